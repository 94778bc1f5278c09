package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.plane.PoolSettings;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.DynamoException;
import io.dynamo.error.Migratable;
import io.dynamo.error.OverloadedException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.ClosedPort;
import io.dynamo.testing.ManualClock;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When connections to a worker are opened, kept and closed, seen by the worker's real sockets. */
class TcpPoolTest {
  private static final byte[] ACCEPTED = new byte[4];
  private static final Duration IDLE = Duration.ofMinutes(5);

  private final ManualClock clock = ManualClock.now();
  private TestPlane plane = plane(2, false);

  @AfterEach
  void closePlane() {
    plane.close();
  }

  private TestPlane plane(int size, boolean warmUp) {
    return new TestPlane(
        TestPlane.pooling(new PoolSettings(size, IDLE, 64, warmUp)), clock.nanoTime());
  }

  private void restart(int size, boolean warmUp) {
    plane.close();
    plane = plane(size, warmUp);
  }

  private static Instance at(ServerSocket worker) {
    return at("127.0.0.1:" + worker.getLocalPort());
  }

  private static Instance at(String address) {
    return new Instance(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        new TransportAddress.Tcp(address, Captured.CHAT_PATH),
        "cpu",
        PayloadFormat.MSGPACK);
  }

  private Collector<EngineOutput> call(ServerSocket worker) {
    return Collector.all(plane.call(at(worker), TestPlane.context()));
  }

  private static void answer(RawPeer requests) throws IOException {
    var request = requests.readRequest();
    requests.write(ACCEPTED);
    try (var stream = RawPeer.dial(Captured.home(request))) {
      stream.write(Captured.answer("chat-stream.w2f.bin", Captured.subject(request)));
      stream.awaitEnd();
    }
  }

  private static void assertNobodyDials(ServerSocket worker) throws IOException {
    worker.setSoTimeout(1); // what was dialled before is in the backlog
    assertThatThrownBy(worker::accept).isInstanceOf(SocketTimeoutException.class);
  }

  @Test
  void connectionWithoutRequestsIsClosedAfterItsTime() throws Exception {
    try (var worker = RawPeer.listen()) {
      var first = call(worker);
      try (var pooled = RawPeer.accept(worker)) {
        answer(pooled);
        first.awaitCompletion();
        plane.awaitAcknowledged();
        clock.advance(IDLE.minusNanos(1));
        plane.client.pool.closeIdle();
        assertThat(plane.client.pool.size()).isEqualTo(1);

        clock.advance(Duration.ofNanos(1));
        plane.client.pool.closeIdle();

        assertThat(plane.client.pool.size()).isZero();
        pooled.awaitEnd();
      }
    }
  }

  @Test
  void connectionWithARequestIsNotIdleHoweverLongItTakes() throws Exception {
    try (var worker = RawPeer.listen()) {
      var first = call(worker);
      try (var pooled = RawPeer.accept(worker)) {
        clock.advance(IDLE.multipliedBy(2));
        plane.client.pool.closeIdle();
        answer(pooled);
        first.awaitCompletion();
        plane.awaitAcknowledged();
        clock.advance(IDLE.minusNanos(1));
        plane.client.pool.closeIdle();

        assertThat(plane.client.pool.size()).isEqualTo(1);
      }
    }
  }

  @Test
  void requestAfterAnIdleTimeOpensAnotherConnection() throws Exception {
    try (var worker = RawPeer.listen()) {
      for (int round = 0; round < 2; round++) {
        var caller = call(worker);
        try (var pooled = RawPeer.accept(worker)) {
          answer(pooled);
          assertThat(caller.awaitCompletion()).hasSize(5);
          plane.awaitAcknowledged();
          clock.advance(IDLE);
          plane.client.pool.closeIdle();
          pooled.awaitEnd();
        }
      }
    }
  }

  @Test
  void foundInstanceHasAConnectionBeforeItsFirstRequest() throws Exception {
    restart(2, true);
    try (var worker = RawPeer.listen()) {
      plane.client.instanceFound(at(worker));
      plane.client.instanceFound(at(worker)); // another endpoint of the same worker
      try (var warm = RawPeer.accept(worker)) {
        assertThat(plane.client.pool.size()).isEqualTo(1);
        var caller = call(worker);
        answer(warm);

        assertThat(caller.awaitCompletion()).hasSize(5);
        assertThat(plane.client.pool.size()).isEqualTo(1);
        assertNobodyDials(worker);
      }
    }
  }

  @Test
  void warmUpOfAWorkerThatDoesNotListenFailsNothing() throws Exception {
    restart(2, true);
    try (var gone = new ClosedPort();
        var worker = RawPeer.listen()) {
      plane.client.instanceFound(at("127.0.0.1:" + gone.number()));
      plane.client.instanceFound(at("no address"));
      var caller = call(worker);
      try (var pooled = RawPeer.accept(worker)) {
        answer(pooled);
        assertThat(caller.awaitCompletion()).hasSize(5);
      }
    }
  }

  /** Counts acknowledgements, each of which comes after its connection's load has fallen. */
  private record Acknowledgements(CountDownLatch missing) implements RequestConnection.Outcome {
    @Override
    public void acknowledged() {
      missing.countDown();
    }

    @Override
    public void failed(DynamoException cause) {}
  }

  @Test
  void anotherConnectionIsOpenedOnlyWhileAllHaveRequestsAndTheLeastLoadedOneIsTaken()
      throws Exception {
    restart(2, false);
    try (var worker = RawPeer.listen()) {
      var address = SocketAddresses.parse("127.0.0.1:" + worker.getLocalPort());
      var frame = new RequestFrame(new byte[] {1}, new byte[0], new byte[8], new byte[8]);
      int frameBytes = Math.toIntExact(frame.length());
      var acknowledged = new CountDownLatch(2);
      Runnable send =
          () -> plane.client.pool.send(address, frame, new Acknowledgements(acknowledged));
      send.run();
      assertThat(plane.client.pool.size()).isEqualTo(1);
      try (var first = RawPeer.accept(worker)) {
        send.run();
        assertThat(plane.client.pool.size()).as("the first has a request").isEqualTo(2);
        try (var second = RawPeer.accept(worker)) {
          send.run();
          send.run();
          first.read(2 * frameBytes);
          second.read(2 * frameBytes);
          first.write(ACCEPTED);
          first.write(ACCEPTED);
          assertThat(acknowledged.await(60, TimeUnit.SECONDS)).isTrue();
          assertThat(plane.client.pool.load()).isEqualTo(2);
          send.run();
          send.run();
          first.read(2 * frameBytes);
          assertThat(plane.client.pool.size()).as("the pool is full").isEqualTo(2);
          assertNobodyDials(worker);
        }
      }
    }
  }

  @Test
  void repeatedRequestsKeepWithinTheSizeOfThePool() throws Exception {
    int size = 2;
    try (var worker = RawPeer.listen()) {
      var address = SocketAddresses.parse("127.0.0.1:" + worker.getLocalPort());
      var frame = new RequestFrame(new byte[] {1}, new byte[0], new byte[8], new byte[8]);
      var outcome = new Ignored();
      for (int i = 0; i < 20; i++) {
        assertThat(plane.client.pool.budget.take(frame.length())).isTrue();
        plane.client.pool.repeat(new Delivery(plane.client.pool, address, frame, outcome));
        assertThat(plane.client.pool.size()).isBetween(1, size);
      }
      var peers = new ArrayList<RawPeer>();
      for (int i = 0; i < size; i++) {
        peers.add(RawPeer.accept(worker));
      }
      assertNobodyDials(worker);
      for (var peer : peers) {
        peer.close();
      }
    }
  }

  /** Counts what becomes of a request. */
  private static final class ObservedAttempt implements RequestConnection.Attempt {
    final CompletableFuture<String> outcome = new CompletableFuture<>();
    final CompletableFuture<DynamoException> failure = new CompletableFuture<>();

    @Override
    public void written() {}

    @Override
    public void acknowledged() {
      outcome.complete("acknowledged");
    }

    @Override
    public void failed(DynamoException cause) {
      outcome.complete(String.valueOf(cause.getMessage()));
      failure.complete(cause);
    }

    @Override
    public void neverTaken(DynamoException cause) {
      failed(cause);
    }
  }

  @Test
  void theWaitForTheTurnToConnectIsNotTimeOfTheWorker() throws Exception {
    var limit = Duration.ofSeconds(5);
    var gate = new ConnectGate(1);
    var request = new ObservedAttempt();
    try (var loops = new EventLoops(1);
        var worker = RawPeer.listen()) {
      gate.enter("another worker", () -> {});
      var connection =
          new RequestConnection(
              loops,
              SocketAddresses.parse("127.0.0.1:" + worker.getLocalPort()),
              TestPlane.impatient(limit, limit),
              null,
              PlaneMeters.of(new Metrics()),
              _ -> {});
      connection.reserve();
      connection.connect(loops, gate);
      connection.send(
          new RequestFrame(new byte[] {1}, new byte[0], new byte[8], new byte[8]), request);
      var _ =
          loops
              .next()
              .schedule(
                  () -> gate.leave("another worker"),
                  limit.toNanos() * 5 / 4,
                  TimeUnit.NANOSECONDS);

      try (var dialled = RawPeer.accept(worker)) {
        assertThat(request.outcome).as("while it waited for its turn").isNotDone();
        dialled.write(ACCEPTED);
        assertThat(request.outcome.get(60, TimeUnit.SECONDS)).isEqualTo("acknowledged");
      }
    }
  }

  /** A connection with one request, before a gate that is not open for it. */
  private static ObservedAttempt requestBefore(
      ConnectGate gate, EventLoops loops, ServerSocket worker, Duration limit) {
    var request = new ObservedAttempt();
    var connection =
        new RequestConnection(
            loops,
            SocketAddresses.parse("127.0.0.1:" + worker.getLocalPort()),
            TestPlane.connecting(limit),
            null,
            PlaneMeters.of(new Metrics()),
            _ -> {});
    connection.reserve();
    connection.connect(loops, gate);
    connection.send(
        new RequestFrame(new byte[] {1}, new byte[0], new byte[8], new byte[8]), request);
    return request;
  }

  @Test
  void aRequestDoesNotWaitForeverBehindOtherWorkers() throws Exception {
    var gate = new ConnectGate(1);
    gate.enter("another worker", () -> {});
    try (var loops = new EventLoops(1);
        var worker = RawPeer.listen()) {
      var request = requestBefore(gate, loops, worker, Duration.ofMillis(200));

      assertThat(request.failure.get(60, TimeUnit.SECONDS))
          .isInstanceOf(OverloadedException.class)
          .hasMessageContaining("has waited for dynamo.request.tcp.connect-timeout of PT0.2S");
      assertThat(gate.waiting()).isZero();
      gate.leave("another worker");
      assertNobodyDials(worker);
    }
  }

  @Test
  void aRequestBehindItsOwnWorkerGoesElsewhere() throws Exception {
    var gate = new ConnectGate(8);
    try (var loops = new EventLoops(1);
        var worker = RawPeer.listen()) {
      var address = SocketAddresses.parse("127.0.0.1:" + worker.getLocalPort());
      for (int i = 0; i < ConnectGate.MOST_TO_ONE; i++) {
        gate.enter(address, () -> {});
      }
      var request = requestBefore(gate, loops, worker, Duration.ofMillis(200));

      assertThat(request.failure.get(60, TimeUnit.SECONDS))
          .isInstanceOf(Migratable.class)
          .hasMessageContaining("cannot connect to worker");
    }
  }

  @Test
  void aRequestBeforeAFullGateIsRefusedAtOnce() throws Exception {
    var gate = new ConnectGate(1, 1);
    gate.enter("another worker", () -> {});
    gate.enter("a third one", () -> {});
    try (var loops = new EventLoops(1);
        var worker = RawPeer.listen()) {
      var request = requestBefore(gate, loops, worker, Duration.ofMinutes(5));

      assertThat(request.failure.get(60, TimeUnit.SECONDS))
          .isInstanceOf(OverloadedException.class)
          .hasMessageContaining("1 connections wait for their turn");
    }
  }

  private static final class Ignored implements RequestConnection.Outcome {
    @Override
    public void acknowledged() {}

    @Override
    public void failed(DynamoException cause) {}
  }

  @Test
  void noMoreConnectThanMay() {
    var gate = new ConnectGate(3);
    var inside = new AtomicInteger();
    var dials = new ArrayDeque<Integer>();
    for (int i = 0; i < 10; i++) {
      int number = i;
      gate.enter(
          "worker " + number,
          () -> {
            inside.incrementAndGet();
            dials.add(number);
          });
    }
    assertThat(dials).containsExactly(0, 1, 2);
    for (int left = 1; left <= 10; left++) {
      gate.leave("worker " + (left - 1));
      assertThat(inside.get()).isEqualTo(Math.min(10, 3 + left));
    }
    assertThat(dials).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    gate.enter("another worker", inside::incrementAndGet);
    assertThat(inside).hasValue(11);
  }

  @Test
  void aWorkerThatDoesNotAnswerLeavesRoomForOthers() {
    var gate = new ConnectGate(3);
    var dials = new ArrayDeque<String>();
    for (int i = 0; i < 5; i++) {
      gate.enter("dead", () -> dials.add("dead"));
    }
    gate.enter("alive", () -> dials.add("alive"));
    gate.enter("other", () -> dials.add("other"));
    assertThat(dials).containsExactly("dead", "dead", "alive");
    gate.leave("alive");
    assertThat(dials).containsExactly("dead", "dead", "alive", "other");
    gate.leave("dead");
    assertThat(dials).containsExactly("dead", "dead", "alive", "other", "dead");
  }
}
