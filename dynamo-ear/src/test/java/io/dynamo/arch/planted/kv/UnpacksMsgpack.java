package io.dynamo.arch.planted.kv;

import org.msgpack.core.MessageUnpacker;

/** Wire bytes away from the codecs. */
public record UnpacksMsgpack(MessageUnpacker bytes) {}
