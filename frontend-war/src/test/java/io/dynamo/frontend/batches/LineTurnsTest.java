package io.dynamo.frontend.batches;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How many lines begin, and when none does. */
class LineTurnsTest {
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicInteger asked = new AtomicInteger();
  private final ScriptedLines lines = new ScriptedLines();
  private final RunStop stop = new RunStop();

  LineTurnsTest() {
    stop.cancel(); // so that nobody waits
  }

  @Test
  void databaseIsAskedForRoomOnceASecondByAllLinesTogether() throws Exception {
    var turns =
        new LineTurns(
            () -> {
              asked.incrementAndGet();
              return true;
            },
            lines,
            1,
            nanos::get);
    for (int i = 0; i < 100; i++) {
      assertThat(turns.tryBegin(stop, true)).isFalse();
    }
    assertThat(asked).hasValue(1);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    turns.tryBegin(stop, true);
    assertThat(asked).hasValue(2);
  }

  @Test
  void noLineIsSentWhileTheDatabaseIsDownOrClientsWait() throws Exception {
    var down =
        new LineTurns(
            () -> {
              throw new ApiException(ApiError.unavailable("down", null));
            },
            lines,
            1,
            nanos::get);
    assertThat(down.tryBegin(stop, true)).isFalse();
    lines.clientsWait = true;
    var turns = new LineTurns(() -> false, lines, 1, nanos::get);
    assertThat(turns.tryBegin(stop, true)).isFalse();
    assertThat(turns.tryBegin(stop, false)).as("one that is recorded only").isTrue();
    turns.end();
    lines.clientsWait = false;
    assertThat(turns.tryBegin(stop, true)).isTrue();
  }
}
