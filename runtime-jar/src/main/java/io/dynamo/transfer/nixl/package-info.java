/**
 * Moves bytes between processes by NIXL, as NVIDIA's {@code dynamo.nixl_connect} does and together
 * with it: start at {@link io.dynamo.transfer.nixl.Connector}. One side offers memory and passes
 * {@link io.dynamo.transfer.nixl.RdmaMetadata} on; the other side reads or writes it. The library
 * itself is behind {@link io.dynamo.transfer.nixl.NixlAgent}.
 */
@NullMarked
package io.dynamo.transfer.nixl;

import org.jspecify.annotations.NullMarked;
