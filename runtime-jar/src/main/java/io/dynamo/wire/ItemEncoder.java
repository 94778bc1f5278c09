package io.dynamo.wire;

import java.nio.ByteBuffer;

/**
 * Encodes the items of one answer, one after the other. For one thread at a time: it may reuse its
 * memory.
 */
public interface ItemEncoder<R> {
  /**
   * @return the item alone, as {@link MessageCodec#encodeItem} returns it; valid until the next
   *     call
   */
  ByteBuffer encode(R item);
}
