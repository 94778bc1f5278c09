package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.record.Payload;

/**
 * Gathers, for a record, the whole answer that a stream adds up to. Gives up, without harm to the
 * stream, when the answer takes too much memory. For one thread.
 */
final class AnswerCopy {
  private final Payload payload;
  private final WholeAnswer answer;
  private final GatheredAnswer memory;
  private long bytes;
  private boolean abandoned;

  AnswerCopy(Payload payload, WholeAnswer answer) {
    this.payload = payload;
    this.answer = answer;
    this.memory = new GatheredAnswer(this::charge);
  }

  private void charge(long more) {
    bytes += more;
    if (!payload.grow(more, bytes / GatheredAnswer.BYTES_PER_CHARACTER)) {
      throw new ApiException(ApiError.unavailable("a record takes too much memory", null));
    }
  }

  void add(ChoiceDelta delta) {
    var item = delta.item();
    if (abandoned || (item != null && item.annotation() != null)) {
      return;
    }
    try {
      memory.charge(delta);
      answer.add(delta);
    } catch (ApiException e) {
      abandoned = true;
    }
  }

  /** Hands the answer over: its stream has ended well. */
  void complete() {
    if (!abandoned) {
      payload.answer(answer.write());
    }
  }
}
