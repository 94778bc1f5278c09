package io.dynamo.frontend.sse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DisconnectWatcherTest {
  private static final InetSocketAddress GONE = peer("192.0.2.1");
  private static final InetSocketAddress OTHER = peer("192.0.2.2"); // the same port elsewhere

  private static InetSocketAddress peer(String host) {
    return new InetSocketAddress(InetAddress.ofLiteral(host), 40_000);
  }

  private static DisconnectWatcher watcher(@Nullable HungUpPeers peers, Duration stall) {
    return new DisconnectWatcher(peers, Duration.ofHours(1), stall, loop -> {});
  }

  @Test
  void onlyTheRequestOfTheClientThatHungUpIsGivenUp() {
    var gone = new Cancellation();
    var stays = new Cancellation();
    var watcher = watcher(local -> Set.of(GONE), Duration.ofHours(1));
    var lost = new ClientConnection(8000, GONE, gone);
    try (var a = watcher.watch(lost);
        var b = watcher.watch(new ClientConnection(8000, OTHER, stays))) {
      watcher.look();
      assertThat(a).isNotSameAs(b);
    }
    assertThat(gone.level()).isEqualTo(Cancellation.Level.KILL);
    assertThat(lost.loss()).isEqualTo(ClientConnection.Loss.HUNG_UP);
    assertThat(stays.isCancelled()).isFalse();
  }

  @Test
  void aRequestThatEndedIsNeverGivenUp() {
    var cancellation = new Cancellation();
    var connection = new ClientConnection(8000, GONE, cancellation);
    var watcher = watcher(local -> Set.of(GONE), Duration.ofHours(1));
    watcher.watch(connection).close();
    watcher.look();
    connection.lose(ClientConnection.Loss.HUNG_UP);
    assertThat(cancellation.isCancelled()).isFalse();
  }

  @Test
  void aRequestThatInheritsThePortDuringTheScanIsLeftAlone() {
    var cancellation = new Cancellation();
    var holder = new DisconnectWatcher[1];
    HungUpPeers peers =
        local -> {
          holder[0].watch(new ClientConnection(8000, GONE, cancellation));
          return Set.of(GONE);
        };
    holder[0] = watcher(peers, Duration.ofHours(1));
    var first = new ClientConnection(8000, OTHER, new Cancellation());
    try (var _ = holder[0].watch(first)) {
      holder[0].look();
    }
    assertThat(cancellation.isCancelled()).isFalse();
  }

  @Test
  void aWriteThatMakesNoProgressIsAStall() {
    var cancellation = new Cancellation();
    var connection = new ClientConnection(8000, GONE, cancellation);
    var watcher = watcher(null, Duration.ZERO);
    connection.writing();
    try (var _ = watcher.watch(connection)) {
      watcher.look();
      assertThat(connection.loss()).isEqualTo(ClientConnection.Loss.STALLED);
    }
    assertThat(cancellation.isCancelled()).isTrue();
  }

  @Test
  void aWriteThatIsOverIsNoStall() {
    var cancellation = new Cancellation();
    var connection = new ClientConnection(8000, GONE, cancellation);
    connection.writing();
    connection.written();
    var watcher = watcher(null, Duration.ZERO);
    try (var _ = watcher.watch(connection)) {
      watcher.look();
    }
    assertThat(cancellation.isCancelled()).isFalse();
  }

  @Test
  void aLookThatFailsIsFollowedByAnother() throws Exception {
    var cancellation = new Cancellation();
    var lost = new CountDownLatch(1);
    var looks = new AtomicInteger();
    HungUpPeers peers =
        local -> {
          if (looks.getAndIncrement() < 2) {
            throw new IllegalStateException("the kernel answered nonsense");
          }
          return Set.of(GONE);
        };
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var _ = cancellation.onCancel(level -> lost.countDown());
        var watcher =
            new DisconnectWatcher(peers, Duration.ofMillis(1), Duration.ofHours(1), threads);
        var _ = watcher.watch(new ClientConnection(8000, GONE, cancellation))) {
      assertThat(lost.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aLoopThatCouldNotStartIsStartedByTheNextRequest() {
    var starts = new AtomicInteger();
    var watcher =
        new DisconnectWatcher(
            null,
            Duration.ofHours(1),
            Duration.ofHours(1),
            loop -> {
              if (starts.getAndIncrement() == 0) {
                throw new RejectedExecutionException("no thread");
              }
            });
    var connection = new ClientConnection(8000, GONE, new Cancellation());
    assertThatThrownBy(() -> watcher.watch(connection))
        .isInstanceOf(RejectedExecutionException.class);
    watcher.watch(connection).close();
    assertThat(starts).hasValue(2);
  }
}
