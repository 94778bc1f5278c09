package io.dynamo.frontend.sse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.frontend.sse.HungUpPeers.Peer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DisconnectWatcherTest {
  private static ClientConnection from(String host, Cancellation cancellation) {
    return new ClientConnection(
        new InetSocketAddress(InetAddress.ofLiteral("192.0.2.9"), 8000),
        new InetSocketAddress(InetAddress.ofLiteral(host), 40_000),
        cancellation);
  }

  /** A kernel that says the same of all. */
  private static HungUpPeers all(Peer peer) {
    return connections -> Collections.nCopies(connections.size(), peer);
  }

  private static DisconnectWatcher watcher(@Nullable HungUpPeers peers, Duration stall) {
    return new DisconnectWatcher(peers, Duration.ofHours(1), stall, loop -> {});
  }

  @Test
  void onlyTheRequestOfTheClientThatHungUpIsGivenUp() {
    var gone = new Cancellation();
    var stays = new Cancellation();
    var lost = from("192.0.2.1", gone);
    HungUpPeers kernel =
        connections ->
            connections.stream().map(it -> it == lost ? Peer.CLOSED : Peer.OPEN).toList();
    var watcher = watcher(kernel, Duration.ofHours(1));
    try (var a = watcher.watch(lost);
        var b = watcher.watch(from("192.0.2.2", stays))) {
      watcher.look();
      assertThat(a).isNotSameAs(b);
    }
    assertThat(gone.level()).isEqualTo(Cancellation.Level.KILL);
    assertThat(lost.loss()).isEqualTo(ClientConnection.Loss.HUNG_UP);
    assertThat(stays.isCancelled()).isFalse();
  }

  @Test
  void connectionThatTheKernelNoLongerKnowsWasReset() {
    var cancellation = new Cancellation();
    var answers = new ArrayDeque<>(List.of(Peer.OPEN, Peer.UNKNOWN));
    var watcher = watcher(connections -> List.of(answers.remove()), Duration.ofHours(1));
    try (var _ = watcher.watch(from("192.0.2.1", cancellation))) {
      watcher.look();
      assertThat(cancellation.isCancelled()).isFalse();
      watcher.look();
      assertThat(cancellation.isCancelled()).isTrue();
    }
  }

  @Test
  void connectionThatTheKernelNeverKnewIsLeftAlone() {
    var cancellation = new Cancellation();
    var watcher = watcher(all(Peer.UNKNOWN), Duration.ofHours(1));
    try (var _ = watcher.watch(from("192.0.2.1", cancellation))) {
      watcher.look();
      watcher.look();
    }
    assertThat(cancellation.isCancelled()).isFalse();
  }

  @Test
  void aRequestThatEndedIsNeverGivenUp() {
    var cancellation = new Cancellation();
    var connection = from("192.0.2.1", cancellation);
    var watcher = watcher(all(Peer.CLOSED), Duration.ofHours(1));
    watcher.watch(connection).close();
    watcher.look();
    connection.lose(ClientConnection.Loss.HUNG_UP);
    assertThat(cancellation.isCancelled()).isFalse();
  }

  @Test
  void aRequestThatBeginsDuringTheLookIsLeftAlone() {
    var cancellation = new Cancellation();
    var holder = new DisconnectWatcher[1];
    HungUpPeers peers =
        connections -> {
          holder[0].watch(from("192.0.2.1", cancellation));
          return Collections.nCopies(connections.size(), Peer.CLOSED);
        };
    holder[0] = watcher(peers, Duration.ofHours(1));
    var first = from("192.0.2.2", new Cancellation());
    try (var _ = holder[0].watch(first)) {
      holder[0].look();
    }
    assertThat(cancellation.isCancelled()).isFalse();
  }

  @Test
  void aWriteThatMakesNoProgressIsAStall() {
    var cancellation = new Cancellation();
    var connection = from("192.0.2.1", cancellation);
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
    var connection = from("192.0.2.1", cancellation);
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
        connections -> {
          if (looks.getAndIncrement() < 2) {
            throw new IllegalStateException("the kernel answered nonsense");
          }
          return Collections.nCopies(connections.size(), Peer.CLOSED);
        };
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var _ = cancellation.onCancel(level -> lost.countDown());
        var watcher =
            new DisconnectWatcher(peers, Duration.ofMillis(1), Duration.ofHours(1), threads);
        var _ = watcher.watch(from("192.0.2.1", cancellation))) {
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
    var connection = from("192.0.2.1", new Cancellation());
    assertThatThrownBy(() -> watcher.watch(connection))
        .isInstanceOf(RejectedExecutionException.class);
    watcher.watch(connection).close();
    assertThat(starts).hasValue(2);
  }
}
