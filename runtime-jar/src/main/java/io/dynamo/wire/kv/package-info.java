/**
 * KV events, loads and queries of ranks as MessagePack or JSON, in Dynamo's form. Start at {@link
 * io.dynamo.wire.kv.KvEventCodec}.
 */
@NullMarked
package io.dynamo.wire.kv;

import org.jspecify.annotations.NullMarked;
