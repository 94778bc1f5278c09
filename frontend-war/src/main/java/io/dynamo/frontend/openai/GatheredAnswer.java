package io.dynamo.frontend.openai;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** Charges the memory that an answer gathers until it is sent. For one thread. */
final class GatheredAnswer {
  private static final long WAIT_NANOS = TimeUnit.HOURS.toNanos(1); // the stream's deadline is less

  /** Below this an answer is not charged. */
  private static final long CHARGE_STEP_BYTES = 4096;

  /** A character in the growing text, in the whole one and in the JSON that is sent. */
  static final long BYTES_PER_CHARACTER = 6;

  /** A token in what is kept of an item, or in a message that is taken apart. */
  private static final long BYTES_PER_TOKEN = 64;

  /** A log probability as an object and in the JSON that is sent. */
  private static final long BYTES_PER_LOGPROB = 256;

  private final LongConsumer memory;
  private long uncharged;

  /**
   * @param memory charged with the bytes that are gathered; throws when there is no room
   */
  GatheredAnswer(LongConsumer memory) {
    this.memory = memory;
  }

  /**
   * Waits for the end of {@code choices} and passes on their deltas.
   *
   * @param fold gets every item with text
   * @throws io.dynamo.error.DynamoException the stream's failure
   */
  void drain(Choices choices, Consumer<ChoiceDelta> fold) throws InterruptedException {
    while (!choices.ended()) {
      var delta = choices.poll();
      if (delta == null) {
        choices.await(WAIT_NANOS);
      } else {
        var item = delta.item();
        if (item != null && item.annotation() != null) {
          continue; // for streams only
        }
        charge(delta);
        fold.accept(delta);
      }
    }
  }

  /** Charges the memory of gathered text. */
  void charge(String text) {
    uncharged += BYTES_PER_CHARACTER * text.length();
    chargeDue();
  }

  private void chargeDue() {
    if (uncharged >= CHARGE_STEP_BYTES) {
      memory.accept(uncharged);
      uncharged = 0;
    }
  }

  /** Charges the memory of a gathered item. */
  void charge(ChoiceDelta delta) {
    uncharged += BYTES_PER_CHARACTER * delta.text().length() + BYTES_PER_TOKEN * delta.tokens();
    var item = delta.item();
    var logprobs = item == null ? null : item.logprobs();
    if (logprobs != null) {
      long count = delta.tokens();
      for (var top : logprobs.top()) {
        count += top.size();
      }
      uncharged += BYTES_PER_LOGPROB * count;
    }
    chargeDue();
  }
}
