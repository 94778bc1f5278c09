/**
 * Where the bytes of KV caches are: {@link io.dynamo.transfer.layout.KvLayout} computes offsets of
 * blocks, layers, heads and tokens, {@link io.dynamo.transfer.layout.KvConversion} moves blocks
 * from one layout to another one. Pure arithmetic: knows regions by number and touches no memory.
 */
@NullMarked
package io.dynamo.transfer.layout;

import org.jspecify.annotations.NullMarked;
