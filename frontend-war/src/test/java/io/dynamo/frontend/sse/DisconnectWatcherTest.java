package io.dynamo.frontend.sse;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

class DisconnectWatcherTest {
  private static final Duration LONG = Duration.ofHours(1);

  private static ClientConnection from(String host, Cancellation cancellation) {
    return new ClientConnection(
        new InetSocketAddress(InetAddress.ofLiteral("192.0.2.9"), 8000),
        new InetSocketAddress(InetAddress.ofLiteral(host), 40_000),
        cancellation);
  }

  /** Records its calls and never waits. */
  private static class RecordingDetector implements HangUpDetector {
    final List<WatchedClient> watched = new ArrayList<>();
    final List<Duration> waits = new ArrayList<>();
    final List<Long> leaving = new ArrayList<>();
    int wakes;
    boolean closed;

    @Override
    public void watch(List<WatchedClient> arrived) {
      watched.addAll(arrived);
    }

    @Override
    public void await(Duration atMost, LongConsumer left) {
      waits.add(atMost);
      leaving.forEach(left::accept);
      leaving.clear();
    }

    @Override
    public void wake() {
      wakes++;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private final RecordingDetector detector = new RecordingDetector();

  private DisconnectWatcher watcher(Duration grace, Duration stall) {
    return new DisconnectWatcher(detector, grace, stall);
  }

  /** Runs turns until all new clients are watched. */
  private static void turns(DisconnectWatcher watcher) {
    for (int i = 0; i < 3; i++) {
      watcher.turn();
    }
  }

  @Test
  void onlyTheRequestOfTheClientThatHungUpIsGivenUp() {
    var gone = new Cancellation();
    var stays = new Cancellation();
    var lost = from("192.0.2.1", gone);
    var watcher = watcher(Duration.ZERO, LONG);
    try (var _ = watcher.watch(lost);
        var _ = watcher.watch(from("192.0.2.2", stays))) {
      turns(watcher);
      assertThat(detector.watched)
          .extracting(arrival -> arrival.client().remote().getHostString())
          .containsExactly("192.0.2.1", "192.0.2.2");

      detector.leaving.add(detector.watched.getFirst().id());
      watcher.turn();
    }
    assertThat(gone.level()).isEqualTo(Cancellation.Level.KILL);
    assertThat(lost.loss()).isEqualTo(ClientConnection.Loss.HUNG_UP);
    assertThat(stays.isCancelled()).isFalse();
  }

  @Test
  void aRequestThatEndedIsNeverGivenUp() {
    var cancellation = new Cancellation();
    var connection = from("192.0.2.1", cancellation);
    var watcher = watcher(Duration.ZERO, LONG);
    var watch = watcher.watch(connection);
    turns(watcher);
    watch.close();

    detector.leaving.add(detector.watched.getFirst().id());
    watcher.turn();
    connection.lose(ClientConnection.Loss.HUNG_UP);

    assertThat(cancellation.isCancelled()).isFalse();
  }

  @Test
  void aRequestThatIsSoonOverIsNotEvenWatched() {
    var watcher = watcher(Duration.ZERO, LONG);
    watcher.watch(from("192.0.2.1", new Cancellation())).close();
    turns(watcher);
    assertThat(detector.watched).isEmpty();
  }

  @Test
  void requestsThatArriveTogetherAreAddedTogether() {
    var watcher = watcher(LONG, LONG);
    for (int i = 0; i < 100; i++) {
      try (var _ = watcher.watch(from("192.0.2.1", new Cancellation()))) {
        watcher.turn();
      }
    }
    assertThat(detector.wakes).isEqualTo(1);
    assertThat(detector.watched).isEmpty();
    assertThat(detector.waits.getLast()).isBetween(Duration.ofMinutes(1), LONG.dividedBy(8));
  }

  @Test
  void anIdleWatcherSleepsAndIsWokenByTheNextRequest() {
    var watcher = watcher(Duration.ZERO, Duration.ofMillis(8));
    watcher.watch(from("192.0.2.1", new Cancellation())).close();
    do {
      watcher.turn();
    } while (detector.waits.size() == 1 || detector.waits.getLast().compareTo(LONG) < 0);

    watcher.watch(from("192.0.2.1", new Cancellation())).close();

    assertThat(detector.wakes).isEqualTo(2);
  }

  @Test
  void aWriteThatMakesNoProgressIsAStall() {
    var cancellation = new Cancellation();
    var connection = from("192.0.2.1", cancellation);
    var watcher = watcher(Duration.ZERO, Duration.ZERO);
    connection.beginWrite();
    try (var _ = watcher.watch(connection)) {
      turns(watcher);
      assertThat(connection.loss()).isEqualTo(ClientConnection.Loss.STALLED);
    }
    assertThat(cancellation.isCancelled()).isTrue();
  }

  @Test
  void aWriteThatIsOverIsNoStall() {
    var cancellation = new Cancellation();
    var connection = from("192.0.2.1", cancellation);
    connection.beginWrite();
    connection.endWrite();
    var watcher = watcher(Duration.ZERO, Duration.ZERO);
    try (var _ = watcher.watch(connection)) {
      turns(watcher);
    }
    assertThat(cancellation.isCancelled()).isFalse();
  }

  @Test
  void aTurnThatFailsIsFollowedByAnother() throws Exception {
    var cancellation = new Cancellation();
    var lost = new CountDownLatch(1);
    var failing =
        new RecordingDetector() {
          private int calls;

          @Override
          public void await(Duration atMost, LongConsumer left) {
            if (calls++ < 3) {
              throw new IllegalStateException("the kernel answered nonsense");
            }
            watched.forEach(arrival -> left.accept(arrival.id()));
          }
        };
    try (var _ = cancellation.onCancel(level -> lost.countDown());
        var watcher = DisconnectWatcher.started(failing, Duration.ofMillis(1), LONG);
        var _ = watcher.watch(from("192.0.2.1", cancellation))) {
      assertThat(lost.await(10, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(failing.closed).isTrue();
  }

  @Test
  void withoutAWordFromTheKernelStallsAreFoundAllTheSame() throws Exception {
    var cancellation = new Cancellation();
    var lost = new CountDownLatch(1);
    var connection = from("192.0.2.1", cancellation);
    connection.beginWrite();
    try (var _ = cancellation.onCancel(level -> lost.countDown());
        var watcher =
            DisconnectWatcher.started(
                new NoHangUpDetector(), Duration.ofMillis(1), Duration.ofMillis(8));
        var _ = watcher.watch(connection)) {
      assertThat(lost.await(10, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(connection.loss()).isEqualTo(ClientConnection.Loss.STALLED);
  }

  @Test
  void closingEndsTheWait() {
    var clients = new FakeHangUps();
    var thread = new Thread(() -> clients.watcher().close());
    thread.start();
    try {
      assertThat(thread.join(Duration.ofSeconds(20))).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
