package io.dynamo.frontend.openai;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import java.io.IOException;
import java.lang.System.Logger.Level;

/**
 * Sends the one answer of a request and remembers whether it was started and whether it broke off.
 * For one thread.
 */
final class TrackedAnswer {
  private static final System.Logger LOG = System.getLogger(TrackedAnswer.class.getName());

  private final AnswerSink sink;
  private boolean started;
  private boolean broken;

  TrackedAnswer(AnswerSink sink) {
    this.sink = sink;
  }

  void error(ApiError error) {
    started = true;
    sink.error(error);
  }

  void json(byte[] body) {
    started = true;
    sink.json(body);
  }

  void whole(AnswerSink.WholeBody body) {
    started = true;
    sink.whole(body);
  }

  /** Sends a stream of parts. A body that cannot be written breaks the answer off. */
  void parts(String contentType, AnswerSink.PartsBody body) {
    started = true;
    sink.parts(
        contentType,
        out -> {
          try {
            return body.writeTo(out);
          } catch (IOException | RuntimeException e) { // the client left, or stopped reading
            breakOff(e);
            return false;
          }
        });
  }

  /** Sends a stream of events. A body that cannot be written breaks the answer off. */
  void events(AnswerSink.StreamBody body) {
    started = true;
    sink.events(
        out -> {
          try {
            body.writeTo(out);
          } catch (IOException | RuntimeException e) { // the client left, or stopped reading
            breakOff(e);
          }
        });
  }

  /** Marks the answer as incomplete, because writing it failed with {@code cause}. */
  void breakOff(Throwable cause) {
    broken = true;
    LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(cause));
  }

  /** Whether a part of the answer may have been sent: no other answer can follow. */
  boolean isStarted() {
    return started;
  }

  /** Whether writing the answer failed. */
  boolean isBroken() {
    return broken;
  }
}
