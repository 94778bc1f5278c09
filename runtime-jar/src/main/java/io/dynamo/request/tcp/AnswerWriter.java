package io.dynamo.request.tcp;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.SentStream;
import io.dynamo.wire.ItemEncoder;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ResponseEnvelope;

/** Writes the items of one answer as frames. For one thread at a time. */
final class AnswerWriter<R> {
  private final ItemEncoder<R> encoder;
  private final byte[] head;
  private final byte[] tail;
  private final int maxBytes;

  /**
   * @param maxBytes limit of one item, in its frame
   */
  AnswerWriter(MessageCodec<?, R> codec, PayloadFormat format, int maxBytes) {
    encoder = codec.encoder(format);
    head = ResponseEnvelope.head(codec.itemForm(), format);
    tail = ResponseEnvelope.tail(codec.itemForm(), format);
    this.maxBytes = maxBytes;
  }

  /**
   * Sends one item.
   *
   * @return the size of the frame's body in bytes
   * @throws RuntimeException when the item cannot be written or is too large; nothing is sent then
   */
  int send(R item, SentStream to) {
    var bytes = encoder.encode(item);
    long all = (long) head.length + bytes.remaining() + tail.length;
    if (all > maxBytes) {
      throw new EngineFailedException(
          ErrorCode.BACKEND_UNKNOWN,
          "item of %d bytes exceeds dynamo.request.tcp.max-frame of %d bytes; raise it on both sides"
              .formatted(all, maxBytes),
          null);
    }
    to.send(head, bytes, tail);
    return (int) all;
  }
}
