package io.dynamo.request.tcp;

import io.dynamo.error.WorkerLostException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.SentStream;
import io.dynamo.pipeline.TwoPartFrame;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.request.DynamoError;
import io.dynamo.wire.request.Prologue;
import io.dynamo.wire.request.ResponseEnvelope;
import io.netty.buffer.ByteBuf;
import java.util.function.LongConsumer;

/** Builds the last frames of an answer stream, all but the sentinel. */
final class AnswerEnd {
  private AnswerEnd() {}

  /**
   * Returns the end mark.
   *
   * @param sent receives the size of each frame's body
   */
  static ByteBuf mark(SentStream to, PayloadFormat format, LongConsumer sent) {
    var mark = ResponseEnvelope.end(format);
    sent.accept(mark.length);
    return TwoPartFrame.ofBody(to.allocator(), mark);
  }

  /**
   * Returns an error item and the end mark.
   *
   * @param sent receives the size of each frame's body
   */
  static ByteBuf error(SentStream to, Throwable cause, PayloadFormat format, LongConsumer sent) {
    var end = mark(to, format, sent);
    var item = ResponseEnvelope.ofError(DynamoError.of(cause), format);
    sent.accept(item.length);
    var error = TwoPartFrame.ofBody(to.allocator(), item);
    try {
      return to.allocator()
          .buffer(error.readableBytes() + end.readableBytes())
          .writeBytes(error)
          .writeBytes(end);
    } finally {
      error.release();
      end.release();
    }
  }

  /**
   * Returns the frames that replace an answer, prologue included. A refusal is an error item after
   * an accepting prologue, as Dynamo's workers send it: to frontends before 1.6 a refusing prologue
   * means an unreachable worker, to which they send nothing for five seconds. So it is used where
   * that is the truth, for a worker that goes away, and where an item has no room for an error.
   *
   * @param sent receives the size of each frame's body
   */
  static ByteBuf refusal(
      SentStream to, Throwable cause, ItemForm form, PayloadFormat format, LongConsumer sent) {
    if (form == ItemForm.PLAIN || cause instanceof WorkerLostException) {
      return TwoPartFrame.ofHeader(to.allocator(), Prologue.refused(cause));
    }
    to.sendHeader(Prologue.accepted());
    return error(to, cause, format, sent);
  }
}
