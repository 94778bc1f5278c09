package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.Migratable;
import io.dynamo.error.OverloadedException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.net.ServerSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The outcome of a request whose connection closes, or accepts no more bytes. */
class TcpDeliveryTest {
  private static final byte[] ACCEPTED = new byte[4];

  private TestPlane plane = new TestPlane();

  @AfterEach
  void closePlane() {
    plane.awaitNothingLeft();
    plane.close();
  }

  private void restart(TestPlane with) {
    plane.close();
    plane = with;
  }

  private static Instance at(ServerSocket worker) {
    return new Instance(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        new TransportAddress.Tcp("127.0.0.1:" + worker.getLocalPort(), Captured.CHAT_PATH),
        "cpu",
        PayloadFormat.MSGPACK);
  }

  private Collector<EngineOutput> callLarge(ServerSocket worker) {
    return Collector.all(
        plane.client.call(
            at(worker),
            TestPlane.request(new int[16 << 20]), // more than sockets take by themselves
            TestPlane.CODEC,
            TestPlane.context()));
  }

  private static void answer(RawPeer requests) throws IOException {
    var request = requests.readRequest();
    requests.write(ACCEPTED);
    try (var stream = RawPeer.dial(Captured.home(request))) {
      stream.write(Captured.answer("chat-stream.w2f.bin", Captured.subject(request)));
      stream.awaitEnd();
    }
  }

  @Test
  void aRequestThatAClosedConnectionCutInTwoIsSentOnceMore() throws Exception {
    restart(new TestPlane(TestPlane.ofOneConnection()));
    try (var worker = RawPeer.listen()) {
      var first = Collector.all(plane.call(at(worker), TestPlane.context()));
      Collector<EngineOutput> large;
      try (var pooled = RawPeer.accept(worker)) {
        answer(pooled);
        first.awaitCompletion();
        large = callLarge(worker);
        pooled.read(1000);
        pooled.reset();
      }
      try (var fresh = RawPeer.accept(worker)) {
        answer(fresh);
      }
      assertThat(large.awaitCompletion()).hasSize(5);
    }
  }

  @Test
  void aRequestIsSentOnceMoreOnlyOnce() throws Exception {
    restart(new TestPlane(TestPlane.ofOneConnection()));
    try (var worker = RawPeer.listen()) {
      var first = Collector.all(plane.call(at(worker), TestPlane.context()));
      Collector<EngineOutput> large;
      try (var pooled = RawPeer.accept(worker)) {
        answer(pooled);
        first.awaitCompletion();
        large = callLarge(worker);
        pooled.read(1000);
        pooled.reset();
      }
      try (var fresh = RawPeer.accept(worker)) {
        fresh.read(1000);
        fresh.reset();
      }
      assertThat(large.awaitFailure()).isInstanceOf(Migratable.class);
    }
  }

  @Test
  void aRequestThatTheWorkerMayHaveTakenIsNotSentAgain() throws Exception {
    restart(new TestPlane(TestPlane.ofOneConnection())); // its acknowledgement may come late
    try (var worker = RawPeer.listen()) {
      var first = Collector.all(plane.call(at(worker), TestPlane.context()));
      Collector<EngineOutput> second;
      try (var pooled = RawPeer.accept(worker)) {
        answer(pooled);
        first.awaitCompletion();
        second = Collector.all(plane.call(at(worker), TestPlane.context()));
        pooled.readRequest();
        pooled.finish();
        assertThat(second.awaitFailure()).isInstanceOf(Migratable.class);
      }
      assertAnswersTheNext(worker);
    }
  }

  /** Nothing else was sent before: the next connection carries the next request. */
  private void assertAnswersTheNext(ServerSocket worker) throws Exception {
    var caller = Collector.all(plane.call(at(worker), TestPlane.context()));
    try (var requests = RawPeer.accept(worker)) {
      answer(requests);
    }
    assertThat(caller.awaitCompletion()).hasSize(5);
  }

  @Test
  void requestsThatWaitToBeSentAreBounded() throws Exception {
    restart(new TestPlane(TestPlane.bounded(1 << 20, 100)));
    try (var worker = RawPeer.listen()) {
      var large = callLarge(worker);
      try (var deaf = RawPeer.accept(worker)) {
        deaf.read(1000);
        assertThat(Collector.all(plane.call(at(worker), TestPlane.context())).awaitFailure())
            .isInstanceOf(OverloadedException.class);
        deaf.reset();
        assertThat(large.awaitFailure()).isInstanceOf(Migratable.class);
      }
      assertAnswersTheNext(worker);
    }
  }
}
