package io.dynamo.wire;

import java.nio.ByteBuffer;

/**
 * Reads the items of one answer, one after the other. For one thread at a time: it may reuse its
 * memory.
 */
public interface ItemDecoder<R> {
  /**
   * @param body positioned at the item, limited to its end; the item keeps no reference to it
   * @throws io.dynamo.error.InvalidRequestException when the bytes are not such an item
   */
  R decode(ByteBuffer body);
}
