package io.dynamo.wire;

import io.dynamo.inference.Annotation;
import io.dynamo.net.PayloadFormat;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Turns the requests and the items of an endpoint into bytes and back, in either format. Stateless.
 * Reading leaves out what it does not know, as Dynamo's readers do, and takes keys in any order.
 */
public interface MessageCodec<Q, R> {
  /** How the endpoint's items stand in their frames. */
  ItemForm itemForm();

  byte[] encodeRequest(Q request, PayloadFormat format);

  /**
   * @throws io.dynamo.error.InvalidRequestException when the bytes are not such a request
   */
  Q decodeRequest(ByteBuffer body, PayloadFormat format);

  /** The item alone, without the response envelope and, when annotated, without its notes. */
  byte[] encodeItem(R item, PayloadFormat format);

  /**
   * @param body positioned at the item, limited to its end; the item keeps nothing of it
   * @throws io.dynamo.error.InvalidRequestException when the bytes are not such an item
   */
  R decodeItem(ByteBuffer body, PayloadFormat format);

  /**
   * The item that stands for an annotation without data. Null, which is the default, drops it:
   * endpoints other than those of clients have no use for annotations.
   */
  default @Nullable R annotation(Annotation annotation) {
    return null;
  }

  /** Encodes the items of one answer; a codec with an item per token has one that is cheaper. */
  default ItemEncoder<R> encoder(PayloadFormat format) {
    return item -> ByteBuffer.wrap(encodeItem(item, format));
  }

  /** Decodes the items of one answer; a codec with an item per token has one that is cheaper. */
  default ItemDecoder<R> decoder(PayloadFormat format) {
    return body -> decodeItem(body, format);
  }
}
