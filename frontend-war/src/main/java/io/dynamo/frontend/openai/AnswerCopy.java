package io.dynamo.frontend.openai;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.record.Payload;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gathers, for a record, the whole answer that a stream adds up to. Gives up, without harm to the
 * stream, when the answer takes too much memory. For one thread.
 */
final class AnswerCopy {
  private static final System.Logger LOG = System.getLogger(AnswerCopy.class.getName());

  private final Payload payload;
  private final GatheredAnswer memory;
  private @Nullable WholeAnswer answer; // null once it was given up or handed over
  private long bytes;

  /**
   * @param openings texts that the answer repeats from its prompts
   */
  AnswerCopy(Payload payload, WholeAnswer answer, List<String> openings) {
    this.payload = payload;
    this.answer = answer;
    this.memory = new GatheredAnswer(this::charge);
    unlessItFails(() -> openings.forEach(memory::charge));
  }

  private void charge(long more) {
    bytes += more;
    if (!payload.grow(more, bytes / GatheredAnswer.BYTES_PER_CHARACTER)) {
      throw new ApiException(ApiError.unavailable("a record takes too much memory", null));
    }
  }

  void add(ChoiceDelta delta) {
    var growing = answer;
    var item = delta.item();
    if (growing == null || (item != null && item.annotation() != null)) {
      return;
    }
    unlessItFails(
        () -> {
          memory.charge(delta);
          growing.add(delta);
        });
  }

  /** Hands the answer over: its stream has ended well. */
  void complete() {
    var whole = answer;
    if (whole != null) {
      unlessItFails(() -> payload.answer(whole.write()));
      leave();
    }
  }

  /** No failure of a record may spoil the stream. */
  private void unlessItFails(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      LOG.log(Level.DEBUG, "an answer is not recorded", FailureShape.of(e));
      leave();
    }
  }

  private void leave() {
    answer = null;
    payload.gathered();
  }
}
