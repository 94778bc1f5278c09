package io.dynamo.arch.planted.kv;

import io.netty.buffer.ByteBuf;

/** A buffer above the codec. */
public record HoldsABuffer(ByteBuf bytes) {}
