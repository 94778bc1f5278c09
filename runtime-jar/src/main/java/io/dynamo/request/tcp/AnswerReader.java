package io.dynamo.request.tcp;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.DynamoException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.Annotation;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemDecoder;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ResponseEnvelope;
import io.netty.buffer.ByteBuf;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Reads the frames of one answer. Frames are copied into a reused array, because reading bytes from
 * an array is faster than from a socket's buffer. Used by the stream's event loop only.
 */
final class AnswerReader<R> {
  private static final int FIRST_BYTES = 256; // a token item takes 138 bytes

  /** The size of the reused array; a longer frame gets an array of its own. */
  private static final int MOST_BYTES = 8 * 1024;

  private static final System.Logger LOG = System.getLogger(AnswerReader.class.getName());
  private static final long MOST_ANNOTATION_CHARS = 64 * 1024;

  private final MessageCodec<?, R> codec;
  private final ItemForm form;
  private final PayloadFormat format;
  private final ItemDecoder<R> decoder;
  private final ItemStream<R> items;
  private final Consumer<DynamoException> failed;
  private ByteBuffer frame = ByteBuffer.allocate(FIRST_BYTES);
  private boolean endMarked;

  /**
   * @param items receives the decoded items
   * @param failed called with the error that the worker sends in place of an item
   */
  AnswerReader(
      MessageCodec<?, R> codec,
      PayloadFormat format,
      ItemStream<R> items,
      Consumer<DynamoException> failed) {
    this.codec = codec;
    this.form = codec.itemForm();
    this.format = format;
    this.decoder = codec.decoder(format);
    this.items = items;
    this.failed = failed;
  }

  /** Whether the worker has sent the end mark of its answer. */
  boolean isEndMarked() {
    return endMarked;
  }

  /**
   * Reads one frame.
   *
   * @return whether there is room for another item
   * @throws InvalidRequestException when the frame holds no item
   */
  boolean read(ByteBuf body) {
    var bytes = copy(body);
    if (ResponseEnvelope.narrowToItem(bytes, form, format)) {
      checkOpen();
      return items.offer(decoder.decode(bytes));
    }
    return deliver(ResponseEnvelope.read(bytes, form, format));
  }

  private ByteBuffer copy(ByteBuf body) {
    int length = body.readableBytes();
    var to = length <= frame.capacity() ? frame : room(length);
    body.readBytes(to.array(), to.arrayOffset(), length);
    return to.clear().limit(length);
  }

  private ByteBuffer room(int length) {
    if (length > MOST_BYTES) {
      return ByteBuffer.allocate(length);
    }
    frame = ByteBuffer.allocate(Math.min(MOST_BYTES, Integer.highestOneBit(length) * 2));
    return frame;
  }

  private boolean deliver(ResponseEnvelope envelope) {
    checkOpen();
    endMarked = envelope.complete();
    if (envelope.error() != null) {
      failed.accept(envelope.error().toException());
      return true;
    }
    var item = envelope.item();
    if (item != null) {
      return items.offer(decoder.decode(item));
    }
    if (envelope.annotation() != null) {
      return annotated(envelope.annotation());
    }
    if (!endMarked && !envelope.annotated()) {
      throw new InvalidRequestException("a frame has no data and is no end mark");
    }
    return true;
  }

  private boolean annotated(Annotation annotation) {
    if (annotation.length() > MOST_ANNOTATION_CHARS) {
      LOG.log(
          Level.DEBUG,
          "an annotation of {0} characters exceeds {1} and is dropped",
          annotation.length(),
          MOST_ANNOTATION_CHARS);
      return true;
    }
    var item = codec.annotation(annotation);
    return item == null || items.offer(item);
  }

  private void checkOpen() {
    if (endMarked) {
      throw new InvalidRequestException("a frame follows the end mark");
    }
  }
}
