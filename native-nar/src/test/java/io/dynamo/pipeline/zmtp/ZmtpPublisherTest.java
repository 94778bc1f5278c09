package io.dynamo.pipeline.zmtp;

import static io.dynamo.pipeline.zmtp.BarePeer.READY_PUB;
import static io.dynamo.pipeline.zmtp.BarePeer.READY_SUB;
import static io.dynamo.pipeline.zmtp.BarePeer.framed;
import static io.dynamo.pipeline.zmtp.BarePeer.ping;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.pipeline.EventLoops;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ZmtpPublisherTest {
  private static final EventLoops LOOPS = new EventLoops(2);
  private static final int QUEUED = 50;
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final AtomicInteger dropped = new AtomicInteger();
  private final ZmtpPublisher publisher =
      ZmtpPublisher.bound(
          LOOPS, ANY, new ZmtpLimits(64, QUEUED, 1 << 20), dropped::incrementAndGet);

  @AfterAll
  static void closeLoops() {
    LOOPS.close();
  }

  @AfterEach
  void close() {
    publisher.close();
  }

  private void send(String... frames) {
    var bytes = new byte[frames.length][];
    for (int i = 0; i < frames.length; i++) {
      bytes[i] = ZmtpBytes.ascii(frames[i]);
    }
    publisher.write(bytes);
    publisher.flush();
  }

  /** Returns a connected peer that the publisher knows as a subscriber of {@code prefix}. */
  private BarePeer subscribed(String prefix) throws IOException {
    return subscribed(BarePeer.connected(publisher.address()), framed("\u0001" + prefix, false));
  }

  /** Sends a ping behind the subscription: once it is answered the subscription has been read. */
  private static BarePeer subscribed(BarePeer peer, String subscription) throws IOException {
    assertThat(peer.shakeHands(READY_SUB)).isEqualTo("\u0005READY\u000bSocket-Type\0\0\0\u0003PUB");
    peer.say(subscription + ping(0, "here"));
    assertThat(peer.frame().body()).isEqualTo("\u0004PONGhere");
    return peer;
  }

  @Test
  void theFirstBytesAreThoseOfTheProtocol() throws IOException {
    try (var peer = BarePeer.connected(publisher.address())) {
      peer.say(BarePeer.greeting().substring(0, 11)); // it need not wait for the whole
      assertThat(peer.hear(64))
          .isEqualTo("\u00ff\0\0\0\0\0\0\0\0\u007f\u0003\0NULL" + "\0".repeat(48));
    }
  }

  @Test
  void subscribersReceiveMessagesThatMatchTheirPrefix() throws IOException {
    try (var all = subscribed("");
        var some = subscribed("kv-");
        var other = subscribed("kv-metrics")) {
      var large = "x".repeat(300);

      send("kv-events", "", large);
      send("kv-metrics", "last");
      send("other", "very last");

      var event = framed("kv-events", true) + framed("", true) + framed(large, false);
      var metrics = framed("kv-metrics", true) + framed("last", false);
      assertThat(some.hear(event.length() + metrics.length())).isEqualTo(event + metrics);
      assertThat(other.hear(metrics.length())).isEqualTo(metrics);
      assertThat(all.hear(event.length())).isEqualTo(event);
      publisher.close();
      assertThat(all.rest()).endsWith(framed("other", true) + framed("very last", false));
      assertThat(some.rest()).isEmpty();
      assertThat(other.rest()).isEmpty();
    }
  }

  @Test
  void aSubscriptionIsTakenBack() throws IOException {
    try (var peer = subscribed("a")) {
      peer.say(framed("\u0001b", false) + framed("\0a", false) + ping(0, ""));
      assertThat(peer.frame().body()).isEqualTo("\u0004PONG");

      send("a");
      send("b");

      assertThat(peer.frame().body()).isEqualTo("b");
    }
  }

  @Test
  void theCommandsOfALaterVersionSubscribeToo() throws IOException {
    try (var peer =
        subscribed(BarePeer.connected(publisher.address()), "\u0004\u000b\u0009SUBSCRIBEk")) {
      send("k");
      assertThat(peer.frame().body()).isEqualTo("k");
      peer.say("\u0004\u0008\u0006CANCELk" + ping(0, ""));
      assertThat(peer.frame().isCommand()).isTrue();
      send("k");
      publisher.close();
      assertThat(peer.rest()).isEmpty();
    }
  }

  @Test
  void malformedSubscriptionsAreIgnored() throws IOException {
    try (var peer =
        subscribed(
            BarePeer.connected(publisher.address()),
            framed("\u0002k", false)
                + framed("", false)
                + framed("\u0001k", true)
                + framed("\u0001k", false)
                + framed("\u0001yes", false))) {
      send("k");
      send("yes");
      assertThat(peer.frame().body()).isEqualTo("yes");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\n",
        "\u00ff\0\0\0\0\0\0\0\0\u007f\u0002",
        "\u00ff\0\0\0\0\0\0\0\0\u007f\u0003\0CURVE",
      })
  void anotherProtocolIsHungUpOn(String first) throws IOException {
    try (var peer = BarePeer.connected(publisher.address())) {
      peer.say(first + "\0".repeat(64));
      assertThat(peer.rest()).hasSize(64).startsWith("\u00ff");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\0\u0001x", // a message too early
        "\u0008\u0001x", // invalid flags
        "\u0005\u0001x", // a command of several frames
        "\u0004\u0001\u0005", // a command cut off in its name
        "\u0004\u0006\u0005READY", // no type
        "\u0004\u0008\u0005READY\u0009S", // a property cut off
        "\u0004\u0011\u0005READY\u000bSocket-Type", // and its value
        "\u0004\u0015\u0005READY\u000bSocket-Type\u00ff\u00ff\u00ff\u00ff",
        "\u0006\0\0\0\0\0\0 \0", // 8 KiB of READY
        "\u0006\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff",
        "\u0004\u0003\u0001AB",
        READY_PUB,
      })
  void aHandshakeThatIsNoneEndsTheConnection(String said) throws IOException {
    try (var peer = BarePeer.connected(publisher.address())) {
      peer.say(BarePeer.greeting() + said);
      assertThat(peer.rest()).hasSize(64 + 27);
    }
  }

  @Test
  void aSubscriptionIsBoundedAndSoIsTheirNumber() throws IOException {
    try (var peer = subscribed("k")) {
      peer.say(framed("\u0001" + "x".repeat(64), false));
      assertThat(peer.rest()).isEmpty();
    }
    try (var peer = subscribed("k")) {
      var many = new StringBuilder();
      for (int i = 0; i < 1024; i++) {
        many.append(framed("\u0001" + i, false));
      }
      peer.say(many.toString());
      assertThat(peer.rest()).isEmpty();
    }
  }

  @Test
  void slowSubscriberDoesNotDelayOthersAndReceivesTheRestLater() throws IOException {
    try (var slow =
            subscribed(BarePeer.connected(publisher.address(), 4096), framed("\u0001", false));
        var quick = subscribed("")) {
      var event = "x".repeat(100_000);
      int sent = 0;
      while (dropped.get() < 100) {
        send(event);
        sent++;
        assertThat(quick.frame().body()).hasSize(100_000);
      }

      int heard = 0;
      while (heard < sent - dropped.get()) {
        assertThat(slow.frame().body()).hasSize(100_000);
        heard++;
      }
      send("last");
      assertThat(slow.frame().body()).isEqualTo("last");
      assertThat(quick.frame().body()).isEqualTo("last");
    }
  }

  @Test
  void aPeerThatPromisedSignsOfLifeIsLetGoWithoutThem() throws IOException {
    try (var peer = subscribed("k")) {
      peer.say(ping(1, ""));
      assertThat(peer.frame().body()).isEqualTo("\u0004PONG");
      assertThat(peer.rest()).isEmpty(); // or it would time out
    }
  }

  @Test
  void itConnectsToABrokerAsWell() throws IOException {
    try (var broker = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var unbound =
            ZmtpPublisher.unbound(new ZmtpLimits(64, QUEUED, 1 << 20), dropped::incrementAndGet)) {
      var recorder = new ZmtpRecorder();
      var connection =
          unbound.connect(
              ZmtpLoop.of(LOOPS), (InetSocketAddress) broker.getLocalSocketAddress(), recorder);
      try (var peer = new BarePeer(broker.accept())) {
        subscribed(peer, "\0\u0002\u0001k"); // READY says SUB where a broker says XSUB: both may
        assertThat(recorder.next()).isEqualTo("up");
        unbound.write(ZmtpBytes.ascii("k"));
        unbound.flush();
        BarePeer.Frame frame;
        do {
          frame = peer.frame(); // it sends pings, too
        } while (frame.isCommand());
        assertThat(frame.body()).isEqualTo("k");
        connection.close();
        assertThat(recorder.next()).isEqualTo("ended: null");
      }
      assertThatIllegalStateException().isThrownBy(unbound::address);
    }
  }

  @Test
  void aBrokerOfManySubjectsIsSentEverything() throws IOException {
    try (var broker = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var unbound =
            ZmtpPublisher.unbound(new ZmtpLimits(64, QUEUED, 1 << 20), dropped::incrementAndGet)) {
      unbound.connect(
          ZmtpLoop.of(LOOPS),
          (InetSocketAddress) broker.getLocalSocketAddress(),
          new ZmtpRecorder());
      try (var peer = new BarePeer(broker.accept())) {
        var many = new StringBuilder();
        for (int i = 0; i <= 1024; i++) {
          many.append(framed("\u0001subject " + i, false));
        }
        subscribed(peer, many.toString());
        unbound.write(ZmtpBytes.ascii("another"));
        unbound.flush();
        BarePeer.Frame frame;
        do {
          frame = peer.frame();
        } while (frame.isCommand());
        assertThat(frame.body()).isEqualTo("another");
      }
    }
  }

  @Test
  void connectionsThatComeAndGoLeaveNothing() throws IOException {
    for (int i = 0; i < 200; i++) {
      try (var peer = new Socket()) {
        peer.connect(publisher.address());
      }
    }
    try (var peer = subscribed("k")) {
      send("k");
      assertThat(peer.frame().body()).isEqualTo("k");
    }
    while (publisher.subscribers() > 0) { // bounded by the test's time
      LockSupport.parkNanos(10_000_000);
    }
  }

  @Test
  void subscriptionsOfAllPeersTogetherAreBounded() throws IOException {
    try (var roomy =
        ZmtpPublisher.bound(LOOPS, ANY, new ZmtpLimits(1 << 20, QUEUED, 1 << 20), () -> {})) {
      try (var first = BarePeer.connected(roomy.address());
          var second = BarePeer.connected(roomy.address())) {
        var most = new StringBuilder();
        for (int i = 0; i < 15; i++) {
          most.append(framed("\u0001" + (char) ('a' + i) + "x".repeat(1_000_000), false));
        }
        subscribed(first, most.toString());
        subscribed(second, framed("\u0001" + "y".repeat(1_000_000), false));
        second.say(framed("\u0001" + "z".repeat(1_000_000), false));
        assertThat(second.rest()).isEmpty();
      }
      awaitSubscribers(roomy, 0);
      try (var third = BarePeer.connected(roomy.address())) {
        var again = framed("\u0001" + "z".repeat(1_000_000), false);
        subscribed(third, again.repeat(20)); // the same subscription takes room once
      }
    }
  }

  private static void awaitSubscribers(ZmtpPublisher of, int count) {
    long until = System.nanoTime() + 10_000_000_000L;
    while (of.subscribers() != count) {
      assertThat(System.nanoTime() - until).as("subscribers: %d", of.subscribers()).isNegative();
      LockSupport.parkNanos(1_000_000);
    }
  }
}
