package io.dynamo.frontend.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How long a run waits for the database. */
class RunStopTest {
  private final RunStop stop = new RunStop();
  private final AtomicInteger calls = new AtomicInteger();

  private static ApiException down() {
    return new ApiException(ApiError.unavailable("down", null));
  }

  @Test
  void callsAreRepeatedUntilTheBatchIsLost() {
    assertThatThrownBy(
            () ->
                stop.persistently(
                    () -> {
                      if (calls.incrementAndGet() == 2) {
                        stop.lose();
                      }
                      throw down();
                    }))
        .isInstanceOf(RunStop.AbandonedException.class);
    assertThat(calls).hasValue(2);
  }

  @Test
  void serverThatStopsEndsTheWaitOfACancelledBatch() {
    stop.cancel();
    assertThatThrownBy(
            () ->
                stop.persistently(
                    () -> {
                      calls.incrementAndGet();
                      stop.leave();
                      throw down();
                    }))
        .isInstanceOf(RunStop.AbandonedException.class);
    assertThat(calls).hasValue(1);
  }

  @Test
  void failuresThatStayAreNotRepeated() {
    assertThatThrownBy(
            () ->
                stop.persistently(
                    () -> {
                      throw new ApiException(500, "refused");
                    }))
        .isInstanceOf(ApiException.class);
  }
}
