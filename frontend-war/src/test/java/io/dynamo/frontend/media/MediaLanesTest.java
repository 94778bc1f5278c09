package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How the fetches of a request end; each runs at once, on the caller's thread. */
class MediaLanesTest {
  private static final Deadline AMPLE = Deadline.after(Duration.ofMinutes(10));
  private static final Deadline PAST = Deadline.after(Duration.ZERO);

  private final IllegalStateException failure = new IllegalStateException("no such file");

  private static <T> List<T> run(MediaLanes.Task<T> task, Deadline deadline) throws Exception {
    return new MediaLanes<>(List.of(task, task))
        .run(2, Runnable::run, deadline, new Cancellation());
  }

  @Test
  void aFetchThatFailsEndsTheRequest() {
    assertThatThrownBy(() -> run(this::fail, AMPLE)).isSameAs(failure);
  }

  @Test
  void aFetchThatFailsAfterTheDeadlineIsLate() {
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> run(this::fail, PAST));
  }

  @Test
  void aClientThatLeftIsNotLate() {
    var cancellation = new Cancellation();
    cancellation.kill();

    assertThatExceptionOfType(CancelledException.class)
        .isThrownBy(
            () -> new MediaLanes<>(List.of(this::fail)).run(1, Runnable::run, PAST, cancellation));
  }

  private Integer fail() {
    throw failure;
  }
}
