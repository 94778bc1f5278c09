package io.dynamo.frontend.batches;

import io.dynamo.frontend.batches.BatchLines.Outcome;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/** Decides whether one line is sent again, and when. For one thread. */
final class LineRetries {
  /** How often a request is sent that is refused for want of room or workers. */
  static final int REFUSALS = 1000;

  /** How often a request is sent that fails in a way that may not last. */
  static final int FAILURES = 3;

  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
  private static final int MAX_DOUBLINGS = 6;

  private final MissingModels models;
  private final InstantSource clock;
  private int sent;
  private int failures;
  private int refusals;
  private long missingSince; // UNIX milliseconds; 0 before its model was missing

  LineRetries(MissingModels models, InstantSource clock) {
    this.models = models;
    this.clock = clock;
  }

  /** Returns how long to wait before the line is sent again; empty when it is not. */
  Optional<Duration> after(Outcome outcome) {
    sent++;
    return mayChange(outcome) ? Optional.of(pause(outcome)) : Optional.empty();
  }

  private boolean mayChange(Outcome outcome) {
    int status = outcome.status();
    if (outcome.isOverload() || status == 429 || status == 503 || status == 529) {
      return ++refusals < REFUSALS;
    }
    if (status == 404) {
      if (missingSince == 0) {
        missingSince = clock.millis();
      }
      return models.mayAppear(outcome.body(), missingSince);
    }
    boolean isOurs = status == 408 || status == 499 || (status >= 500 && status != 501);
    return isOurs && ++failures < FAILURES;
  }

  /** As long as the refusal says, or longer each time. */
  private Duration pause(Outcome outcome) {
    var own = FIRST_PAUSE.multipliedBy(1L << Math.min(sent - 1, MAX_DOUBLINGS));
    var asked = outcome.retryAfterSeconds();
    var wanted = asked == null ? own : Duration.ofSeconds(asked);
    var longer = wanted.compareTo(own) > 0 ? wanted : own;
    return longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
  }
}
