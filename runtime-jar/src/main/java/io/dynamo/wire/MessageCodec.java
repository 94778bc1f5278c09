package io.dynamo.wire;

import io.dynamo.inference.Annotation;
import io.dynamo.net.PayloadFormat;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes the requests and the items of an endpoint, in either format. Stateless.
 * Reading ignores unknown members, as Dynamo's readers do, and accepts keys in any order.
 */
public interface MessageCodec<Q, R> {
  /** Returns the form of the endpoint's items in their frames. */
  ItemForm itemForm();

  byte[] encodeRequest(Q request, PayloadFormat format);

  /**
   * @throws io.dynamo.error.InvalidRequestException when the bytes are not such a request
   */
  Q decodeRequest(ByteBuffer body, PayloadFormat format);

  /**
   * Encodes the item alone, without the response envelope and, when annotated, without its notes.
   */
  byte[] encodeItem(R item, PayloadFormat format);

  /**
   * @param body positioned at the item, limited to its end; the item keeps no reference to it
   * @throws io.dynamo.error.InvalidRequestException when the bytes are not such an item
   */
  R decodeItem(ByteBuffer body, PayloadFormat format);

  /**
   * Returns the item that stands for an annotation without data. Null, which is the default, drops
   * it: only endpoints for clients use annotations.
   */
  default @Nullable R annotation(Annotation annotation) {
    return null;
  }

  /**
   * Returns an encoder for the items of one answer; a codec with an item per token overrides it
   * with a cheaper one.
   */
  default ItemEncoder<R> encoder(PayloadFormat format) {
    return item -> ByteBuffer.wrap(encodeItem(item, format));
  }

  /**
   * Returns a decoder for the items of one answer; a codec with an item per token overrides it with
   * a cheaper one.
   */
  default ItemDecoder<R> decoder(PayloadFormat format) {
    return body -> decodeItem(body, format);
  }
}
