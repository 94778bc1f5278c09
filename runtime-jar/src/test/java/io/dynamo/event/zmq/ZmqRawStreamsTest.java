package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.event.RawStreams;
import io.dynamo.event.Until;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.testing.FreePorts;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

@Timeout(120)
class ZmqRawStreamsTest {
  private static final int CAPACITY = 100;
  private static final String OTHER = "an unexpected message";

  private final Metrics metrics = new Metrics();
  private final Metrics.Counter dropped =
      metrics.counter(new MetricName("dropped_total", "Messages that were dropped."));
  private final ZContext peers = new ZContext();
  private final ZmqRawStreams streams =
      new ZmqRawStreams(
          TestSettings.with(
                  Map.of(
                      "dynamo.event.zmq.max-message",
                      "64KiB",
                      "dynamo.event.queue-capacity",
                      String.valueOf(CAPACITY)))
              .event(),
          ZmqProcesses.LOOPS);

  @AfterEach
  void closeAll() {
    streams.close();
    peers.close();
  }

  /** Keeps its events as text. */
  private static final class Ear implements RawStreams.Listener {
    final Recorder<String> events = new Recorder<>();

    @Override
    public void message(byte[][] frames) throws IOException {
      var text = new String(frames[1], StandardCharsets.UTF_8);
      if (text.equals(OTHER)) {
        throw new IOException("not for us");
      }
      events.accept(text);
    }

    @Override
    public void up() {
      events.accept("<up>");
    }

    @Override
    public void cut() {
      events.accept("<cut>");
    }
  }

  private static void awaits(CountDownLatch release) {
    try {
      assertThat(release.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private ZMQ.Socket publisher() {
    return peers.createSocket(SocketType.PUB);
  }

  private RawStreams.RawSubscription follow(int port, Ear ear) {
    return streams.follow("a test", "tcp://127.0.0.1:" + port, 2, dropped, ear);
  }

  private static void send(ZMQ.Socket publisher, String... frames) {
    for (int i = 0; i < frames.length; i++) {
      publisher.send(frames[i], i + 1 < frames.length ? ZMQ.SNDMORE : 0);
    }
  }

  /** Repeats it until it is heard: a subscription takes its time to reach a publisher. */
  private static void greet(ZMQ.Socket publisher, Ear ear) throws InterruptedException {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!ear.events.rest().contains("hello")) {
      assertThat(System.nanoTime() - deadline).isNegative();
      send(publisher, "", "hello");
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    send(publisher, "", "begin");
    for (var heard = ear.events.next(); !heard.equals("begin"); heard = ear.events.next()) {
      assertThat(heard).isEqualTo("hello");
    }
  }

  @Test
  void messagesComeWholeInOrderAndOthersAreCounted() throws InterruptedException {
    var publisher = publisher();
    var ear = new Ear();
    try (var following = follow(publisher.bindToRandomPort("tcp://127.0.0.1"), ear)) {
      assertThat(following).isNotNull();
      assertThat(ear.events.next()).isEqualTo("<up>");
      greet(publisher, ear);
      send(publisher, "", "a");
      send(publisher, "one frame");
      send(publisher, "", OTHER);
      send(publisher, "", "three", "frames");
      send(publisher, "any topic", "b");
      assertThat(ear.events.next(2)).containsExactly("a", "b");
      assertThat(dropped.value()).isEqualTo(3);
    }
  }

  @Test
  void closedSubscriptionReceivesNothingAndOthersContinue() throws InterruptedException {
    var publisher = publisher();
    int port = publisher.bindToRandomPort("tcp://127.0.0.1");
    var first = new Ear();
    var second = new Ear();
    var following = follow(port, first);
    assertThat(follow(port, second)).isNotNull();
    first.events.next();
    second.events.next();
    greet(publisher, first);
    greet(publisher, second);
    following.close();
    following.close();
    Until.holds(
        () -> {
          first.events.rest();
          send(publisher, "", "later");
          LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
          return first.events.rest().isEmpty();
        });
    second.events.rest();
    send(publisher, "", "last");
    for (var heard = second.events.next(); !heard.equals("last"); heard = second.events.next()) {
      assertThat(heard).isEqualTo("later");
    }
  }

  @Test
  void aPublisherThatIsGoneIsToldOfOnceAndHeardWhenItIsBack() throws InterruptedException {
    var publisher = publisher();
    int port = bindToAKeptPort(publisher);
    var ear = new Ear();
    assertThat(follow(port, ear)).isNotNull();
    assertThat(ear.events.next()).isEqualTo("<up>");
    publisher.close();
    assertThat(ear.events.next()).isEqualTo("<cut>");
    var again = publisher();
    Until.holds(() -> isBound(again, port)); // the closed socket gives its port back in a while
    assertThat(ear.events.next()).isEqualTo("<up>");
    greet(again, ear);
  }

  /** Binds to a port that the kernel gives to no connection while the publisher is away. */
  private static int bindToAKeptPort(ZMQ.Socket publisher) {
    for (int attempt = 0; attempt < FreePorts.ATTEMPTS; attempt++) {
      int port = FreePorts.next(1);
      if (isBound(publisher, port)) {
        return port;
      }
    }
    throw new AssertionError("every port that was free is taken");
  }

  private static boolean isBound(ZMQ.Socket socket, int port) {
    try {
      return socket.bind("tcp://127.0.0.1:" + port);
    } catch (ZMQException taken) {
      return false;
    }
  }

  @Test
  void aSlowListenerLosesMessagesAndHearsTheRest() throws InterruptedException {
    var publisher = publisher();
    var begun = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    var ear = new Ear();
    var slow =
        new RawStreams.Listener() {
          @Override
          public void message(byte[][] frames) throws IOException {
            if (new String(frames[1], StandardCharsets.UTF_8).equals("wait")) {
              begun.countDown();
              awaits(release);
            }
            ear.message(frames);
          }

          @Override
          public void up() {
            ear.up();
          }

          @Override
          public void cut() {
            ear.cut();
          }
        };
    int port = publisher.bindToRandomPort("tcp://127.0.0.1");
    assertThat(streams.follow("a test", "tcp://127.0.0.1:" + port, 2, dropped, slow)).isNotNull();
    greet(publisher, ear);
    send(publisher, "", "wait");
    awaits(begun);
    for (int i = 0; i < CAPACITY + 10; i++) {
      send(publisher, "", "message " + i);
    }
    Until.holds(() -> dropped.value() == 10);
    release.countDown();
    assertThat(ear.events.next()).isEqualTo("wait");
    for (int i = 0; i < CAPACITY; i++) {
      assertThat(ear.events.next()).isEqualTo("message " + i);
    }
  }

  @Test
  void invalidAddressIsReportedAsUnreachable() throws InterruptedException {
    var ear = new Ear();
    assertThat(streams.follow("a test", "nowhere", 2, dropped, ear)).isNotNull();
    assertThat(ear.events.next()).isEqualTo("<cut>");
  }

  @Test
  void nothingIsFollowedOnceTheStreamsAreClosed() throws InterruptedException {
    var publisher = publisher();
    int port = publisher.bindToRandomPort("tcp://127.0.0.1");
    var ear = new Ear();
    var following = follow(port, ear);
    assertThat(ear.events.next()).isEqualTo("<up>");
    greet(publisher, ear);
    streams.close();
    following.close();
    streams.close();
    assertThatIllegalStateException().isThrownBy(() -> follow(port, ear));
    Until.holds(
        () -> {
          ear.events.rest();
          send(publisher, "", "later");
          LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
          return ear.events.rest().isEmpty();
        });
  }

  private ZMQ.Socket pushing(int port) {
    var socket = peers.createSocket(SocketType.PUSH);
    assertThat(socket.connect("tcp://127.0.0.1:" + port)).isTrue();
    return socket;
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  @Test
  void pushedMessagesOfAllProgramsAreHeardInTheirOrder() throws Exception {
    var ear = new Ear();
    int port = FreePorts.next(1);
    var pulled = streams.pull("a test", loopback(port), 2, 64 << 10, dropped, ear);
    var first = pushing(port);
    var second = pushing(port);
    for (int i = 0; i < 20; i++) {
      send(first, "t", "a" + i);
    }
    send(first, "t", "one", "too many");
    send(first, "t", "end");
    for (int i = 0; i < 20; i++) {
      assertThat(ear.events.next()).isEqualTo("a" + i);
    }
    assertThat(ear.events.next()).isEqualTo("end");
    send(second, "t", "b");
    assertThat(ear.events.next()).isEqualTo("b");
    assertThat(dropped.value()).isOne();

    pulled.close();
    pulled.close();
    awaitFree(port);
  }

  /** Waits until nobody listens there any more. */
  private static void awaitFree(int port) {
    Until.holds(
        () -> {
          try (var socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
          } catch (IOException _) {
            return false;
          }
        });
  }

  @Test
  void aProgramThatPushesTooMuchOrIsNoneIsDisconnected() throws Exception {
    var ear = new Ear();
    int port = FreePorts.next(1);
    var _ = streams.pull("a test", loopback(port), 2, 64 << 10, dropped, ear);
    try (var stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
      stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      stranger.setSoTimeout(60_000);
      assertThat(stranger.getInputStream().readAllBytes().length).isLessThan(100);
    }
    var program = pushing(port);
    send(program, "t", "x".repeat(70_000));
    Until.holds( // messages are lost until it has connected again
        () -> {
          send(program, "t", "after");
          return ear.events.rest().contains("after");
        });
    assertThat(dropped.value()).isGreaterThanOrEqualTo(2);
  }

  @Test
  void anAddressThatIsTakenIsRefused() throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatIllegalStateException()
          .isThrownBy(
              () ->
                  streams.pull(
                      "a test", loopback(taken.getLocalPort()), 2, 64 << 10, dropped, new Ear()))
          .withMessageContaining("cannot listen");
    }
  }
}
