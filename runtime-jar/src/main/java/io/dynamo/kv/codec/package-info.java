/** KV events as msgpack, in Dynamo's form. Start at {@link io.dynamo.kv.codec.KvEventCodec}. */
@NullMarked
package io.dynamo.kv.codec;

import org.jspecify.annotations.NullMarked;
