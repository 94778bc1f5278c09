/**
 * Host memory for KV blocks, copied in batches and checksummed. Start at {@link
 * io.dynamo.transfer.HostMemory}.
 */
@NullMarked
package io.dynamo.transfer;

import org.jspecify.annotations.NullMarked;
