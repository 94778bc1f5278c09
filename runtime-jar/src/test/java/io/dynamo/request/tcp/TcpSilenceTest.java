package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.SilenceSettings;
import io.dynamo.config.plane.TcpTimeouts;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Migratable;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.TransportMetrics;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A requester's handling of a worker that falls silent, on real sockets. */
class TcpSilenceTest {
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(20);

  /** For workers that fall silent, some after a call that must not take as long as this does. */
  private static final SilenceSettings PROBING =
      new SilenceSettings(Duration.ofSeconds(1), Duration.ofSeconds(1), LONG, Duration.ZERO, LONG);

  /** For workers that answer, however little of the processor they get. */
  private static final SilenceSettings ASKING =
      new SilenceSettings(SHORT, Duration.ofSeconds(2), LONG, Duration.ZERO, LONG);

  private TestPlane plane = new TestPlane();

  @AfterEach
  void closePlane() {
    plane.awaitNothingLeft();
    plane.close();
  }

  private void restart(SilenceSettings silence) {
    plane.close();
    plane =
        new TestPlane(
            TestPlane.watching(
                new TcpTimeouts(LONG, LONG, LONG, LONG, Duration.ZERO, LONG), silence));
  }

  private static SilenceSettings limits(Duration betweenItems, Duration firstItem) {
    return new SilenceSettings(LONG, LONG, betweenItems, firstItem, LONG);
  }

  private Collector<EngineOutput> call(ServerSocket worker) {
    return Collector.all(plane.call(WorkerAtHome.at(worker), TestPlane.context()));
  }

  private static void assertLost(Collector<?> caller, ErrorCode code, String why)
      throws InterruptedException {
    assertThat(caller.awaitFailure())
        .isInstanceOf(Migratable.class)
        .hasMessageContaining(why)
        .isInstanceOfSatisfying(
            DynamoException.class, lost -> assertThat(lost.code()).isEqualTo(code));
  }

  private static void letPass(Duration time) throws Exception {
    TestPlane.LOOPS
        .next()
        .schedule(() -> {}, time.toMillis(), TimeUnit.MILLISECONDS)
        .get(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
  }

  // limits

  @Test
  void aWorkerWithoutItsNextItemIsLost() throws Exception {
    restart(limits(SHORT, Duration.ZERO));
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologueAndItem();
        caller.awaitItems(1);
        assertLost(caller, ErrorCode.RESPONSE_TIMEOUT, "no next item");
        assertThat(called.stream.readFrame().header()).asString().isEqualTo("\"kill\"");
        called.stream.awaitGone();
      }
    }
  }

  @Test
  void bytesThatDripWithoutAnItemDoNotPutOffTheLimit() throws Exception {
    restart(limits(SHORT, Duration.ZERO));
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologueAndItem();
        caller.awaitItems(1);
        called.halfAnItem();
        assertLost(caller, ErrorCode.RESPONSE_TIMEOUT, "no next item");
      }
    }
  }

  @Test
  void whileNobodyAsksForItemsSilenceIsNotTheWorkers() throws Exception {
    var limit = Duration.ofSeconds(8); // the test's own writes must keep it
    restart(limits(limit, Duration.ZERO));
    int many = plane.settings.streamBuffer() + 8;
    try (var worker = RawPeer.listen()) {
      Collector<EngineOutput> caller =
          Collector.of(plane.call(WorkerAtHome.at(worker), TestPlane.context()), 1);
      try (var called = new WorkerAtHome(worker)) {
        called.prologueAndItem();
        for (int i = 1; i < many; i++) {
          called.item();
        }
        caller.awaitItems(1);
        letPass(limit.plusSeconds(1));
        assertThat(caller.hasEnded()).isFalse();
        caller.request(many);
        caller.awaitItems(many);
        assertLost(caller, ErrorCode.RESPONSE_TIMEOUT, "no next item");
      }
    }
  }

  @Test
  void theFirstItemMayTakeLongerThanTheNext() throws Exception {
    restart(limits(SHORT, Duration.ZERO));
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologue();
        letPass(SHORT.multipliedBy(3));
        assertThat(caller.hasEnded()).isFalse();
        called.itemAndEnd();
        assertThat(caller.awaitCompletion()).hasSize(1);
      }
    }
  }

  @Test
  void theFirstItemHasALimitOfItsOwn() throws Exception {
    restart(limits(LONG, SHORT));
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologue();
        assertLost(caller, ErrorCode.RESPONSE_TIMEOUT, "no first item");
      }
    }
  }

  // the way to the first item

  private static SilenceSettings startingWithin(Duration least) {
    return new SilenceSettings(LONG, LONG, LONG, Duration.ZERO, least);
  }

  @Test
  void aWorkerThatAcknowledgesAndNeverCallsHomeIsLostSoon() throws Exception {
    restart(startingWithin(SHORT));
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var requests = RawPeer.accept(worker)) {
        requests.readRequest();
        requests.write(WorkerAtHome.ACCEPTED);
        assertLost(caller, ErrorCode.CONNECTION_TIMEOUT, "did not call");
      }
    }
  }

  @Test
  void aWorkerThatCallsHomeAndNeverBeginsIsLostSoon() throws Exception {
    restart(startingWithin(Duration.ofSeconds(10))); // within which it calls home
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        assertLost(caller, ErrorCode.RESPONSE_TIMEOUT, "did not begin");
        assertThat(called.stream.readFrame().header()).asString().isEqualTo("\"kill\"");
      }
    }
  }

  // probes

  @Test
  void aWorkerThatSendsHalfAnItemAndAnswersNoProbeIsLost() throws Exception {
    restart(PROBING);
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologueAndItem();
        caller.awaitItems(1);
        called.halfAnItem();
        assertLost(caller, ErrorCode.RESPONSE_TIMEOUT, "2 probes unanswered");
        assertThat(called.stream.readFrame().header()).asString().isEqualTo("\"kill\"");
      }
    }
  }

  @Test
  void aWorkerThatFreezesBeforeItCallsHomeIsLost() throws Exception {
    restart(PROBING);
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var requests = RawPeer.accept(worker)) {
        requests.readRequest();
        requests.write(WorkerAtHome.ACCEPTED);
        assertLost(caller, ErrorCode.RESPONSE_TIMEOUT, "2 probes unanswered");
      }
    }
  }

  @Test
  void aSilentWorkerThatAnswersProbesIsOnlySlow() throws Exception {
    restart(ASKING);
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologueAndItem();
        for (int i = 0; i < 4; i++) {
          assertThat(called.refuseNext()).isEqualTo(TestPlane.ID.hex() + "/probe");
        }
        assertThat(caller.hasEnded()).isFalse();
        called.itemAndEnd();
        assertThat(caller.awaitCompletion()).hasSize(2);
      }
    }
  }

  @Test
  void aWorkerOfOursAnswersProbes() throws Exception {
    restart(ASKING);
    var tokens = new ItemStream<EngineOutput>(4, () -> {}, () -> {});
    var served = plane.serve((request, context) -> tokens);
    var caller = Collector.all(plane.call(served));
    var received = plane.metrics.counter(TransportMetrics.TCP_BYTES_RECEIVED);
    long refusals = 4L * (4 + Acks.unknownEndpoint(TestPlane.ID.hex() + "/probe").length());
    long deadline = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    while (received.value() < 4 + refusals) {
      assertThat(System.nanoTime() - deadline).as("probes are answered").isNegative();
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(caller.hasEnded()).isFalse();
    tokens.offer(EngineOutput.finish(FinishReason.STOP, null));
    tokens.complete();
    assertThat(caller.awaitCompletion()).hasSize(1);
  }

  // discovery

  @Test
  void aWorkerThatHasLeftDiscoveryIsLostOnceItStopsInTheMiddle() throws Exception {
    restart(ASKING);
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologueAndItem();
        caller.awaitItems(1);
        plane.client.instanceLost(WorkerAtHome.at(worker));
        called.refuseNext(); // it lives: its engine may hang
        assertLost(caller, ErrorCode.DISCONNECTED, "left discovery and fell silent");
      }
    }
  }

  @Test
  void aWorkerThatIsInDiscoveryAgainIsNotTakenForOneThatLeft() throws Exception {
    restart(ASKING);
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologueAndItem();
        caller.awaitItems(1);
        plane.client.instanceLost(WorkerAtHome.at(worker));
        plane.client.instanceFound(WorkerAtHome.at(worker));
        for (int i = 0; i < 4; i++) {
          called.refuseNext();
        }
        called.end();
        assertThat(caller.awaitCompletion()).hasSize(1);
      }
    }
  }

  @Test
  void aStreamThatFlowsGoesOnAfterItsInstanceHasLeftDiscovery() throws Exception {
    restart(ASKING);
    try (var worker = RawPeer.listen()) {
      var caller = call(worker);
      try (var called = new WorkerAtHome(worker)) {
        called.prologueAndItem();
        caller.awaitItems(1);
        plane.client.instanceLost(WorkerAtHome.at(worker));
        long begun = System.nanoTime();
        int sent = 1;
        while (System.nanoTime() - begun < ASKING.probe().plus(SHORT).toNanos() * 3 / 2) {
          called.item();
          sent++;
          caller.awaitItems(sent);
          LockSupport.parkNanos(5_000_000);
        }
        called.end();
        assertThat(caller.awaitCompletion()).hasSize(sent);
      }
    }
  }
}
