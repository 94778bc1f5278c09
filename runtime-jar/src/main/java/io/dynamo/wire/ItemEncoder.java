package io.dynamo.wire;

import java.nio.ByteBuffer;

/**
 * Turns the items of one answer into bytes, one after the other. For one thread at a time: it may
 * use its memory again.
 */
public interface ItemEncoder<R> {
  /**
   * @return the item alone, as {@link MessageCodec#encodeItem} gives it; valid until the next call
   */
  ByteBuffer encode(R item);
}
