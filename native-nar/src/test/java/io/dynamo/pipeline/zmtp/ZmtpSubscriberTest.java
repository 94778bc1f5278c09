package io.dynamo.pipeline.zmtp;

import static io.dynamo.pipeline.zmtp.BarePeer.READY_PUB;
import static io.dynamo.pipeline.zmtp.BarePeer.READY_SUB;
import static io.dynamo.pipeline.zmtp.BarePeer.framed;
import static io.dynamo.pipeline.zmtp.BarePeer.ping;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.pipeline.EventLoops;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ZmtpSubscriberTest {
  private static final EventLoops LOOPS = new EventLoops(1);
  private static final int MAX = 1000;

  private final ZmtpRecorder recorder = new ZmtpRecorder();
  private ServerSocket server;

  @BeforeEach
  void listen() throws IOException {
    server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
  }

  @AfterAll
  static void closeLoops() {
    LOOPS.close();
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private ZmtpConnection connect() {
    return ZmtpSubscriber.connect(
        ZmtpLoop.of(LOOPS),
        (InetSocketAddress) server.getLocalSocketAddress(),
        ZmtpBytes.ascii("kv"),
        2,
        MAX,
        recorder);
  }

  /** Returns a connected peer that has received its subscription. */
  private BarePeer accepted() throws IOException {
    var peer = new BarePeer(server.accept());
    assertThat(peer.shakeHands(READY_PUB)).isEqualTo("\u0005READY\u000bSocket-Type\0\0\0\u0003SUB");
    BarePeer.Frame frame;
    do {
      frame = peer.frame(); // it may send a ping first
    } while (frame.isCommand());
    assertThat(frame).isEqualTo(new BarePeer.Frame(0, "\u0001kv"));
    assertThat(recorder.next()).isEqualTo("up");
    return peer;
  }

  @Test
  void messagesComeWholeAndNoFramesAreKeptThatNobodyWants() throws IOException {
    connect();
    try (var peer = accepted()) {
      peer.say(framed("kv", true) + framed("x".repeat(300), false));
      peer.say(framed("kv", false));
      peer.say(framed("kv", true) + framed("2", true) + framed("3", true) + framed("4", false));
      assertThat(recorder.next()).isEqualTo("2: kv " + "x".repeat(300));
      assertThat(recorder.next()).isEqualTo("1: kv");
      assertThat(recorder.next()).isEqualTo("4: kv 2");
    }
    assertThat(recorder.next()).isEqualTo("ended: null");
  }

  @Test
  void bytesMayComeInAnyPortions() throws IOException {
    var said =
        BarePeer.greeting()
            + READY_PUB
            + framed("kv", true)
            + ping(10, "c")
            + framed("x".repeat(256), false);
    for (int cut = 1; cut < said.length(); cut++) {
      connect();
      try (var peer = new BarePeer(server.accept())) {
        peer.say(said.substring(0, cut));
        if (cut % 8 == 0) {
          peer.hear(1); // it is waiting by now, more likely than not
        }
        peer.say(said.substring(cut));
        assertThat(recorder.next()).isEqualTo("up");
        assertThat(recorder.next()).as("cut at %d", cut).isEqualTo("2: kv " + "x".repeat(256));
      }
      assertThat(recorder.next()).isEqualTo("ended: null");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0|a first byte that is none of ZMTP",
        "10|ZMTP 2, where 3 is the least",
        "12|a security mechanism other than NULL",
        "9|a signature that is none of ZMTP",
      })
  void aWrongGreetingIsReported(int at, String why) throws IOException {
    connect();
    try (var peer = new BarePeer(server.accept())) {
      var greeting = new StringBuilder(BarePeer.greeting());
      greeting.setCharAt(at, at == 10 ? '\u0002' : 'T');
      peer.say(greeting.toString());
      assertThat(recorder.next()).isEqualTo("ended: " + why);
    }
  }

  @Test
  void aPeerThatListensTooIsNoneToListenTo() throws IOException {
    connect();
    try (var peer = new BarePeer(server.accept())) {
      peer.shakeHands(READY_SUB);
      assertThat(recorder.next())
          .startsWith("ended: a socket of type SUB, where one of [")
          .contains("PUB");
    }
  }

  @Test
  void anErrorIsReportedInAFormFitForALog() throws IOException {
    connect();
    try (var peer = new BarePeer(server.accept())) {
      peer.say(BarePeer.greeting() + "\u0004\u000c\u0005ERROR\u0005no\n\u001b!");
      assertThat(recorder.next()).isEqualTo("ended: a refusal: no??!");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void moreThanTheLimitIsNotTaken(boolean whole) throws IOException {
    connect();
    try (var peer = accepted()) {
      peer.say(framed("kv", true) + framed("x".repeat(MAX), false));
      assertThat(recorder.next()).hasSize(6 + MAX);
      var large = framed("x".repeat(MAX + 1), false);
      peer.say(whole ? large : large.substring(0, 9));
      assertThat(recorder.next())
          .isEqualTo("ended: a frame of 1001 bytes, where 1000 are the most");
    }
  }

  @Test
  void pingsAreAnsweredAndUnknownCommandsAreNot() throws IOException {
    connect();
    try (var peer = accepted()) {
      peer.say("\u0004\u0005\u0004WHAT" + ping(100, "0123456789abcdef"));
      BarePeer.Frame frame;
      do {
        frame = peer.frame();
      } while (!frame.body().startsWith("\u0004PONG"));
      assertThat(frame).isEqualTo(new BarePeer.Frame(4, "\u0004PONG0123456789abcdef"));
      peer.say(ping(100, "0123456789abcdef0"));
      assertThat(recorder.next()).isEqualTo("ended: a ping of 19 bytes");
    }
  }

  @Test
  void aHeartbeatIsRequestedWithItsTerm() throws IOException {
    connect();
    try (var peer = accepted()) {
      assertThat(peer.frame()).isEqualTo(new BarePeer.Frame(4, "\u0004PING\0\u0096"));
    }
  }

  @Test
  void silentPeerIsClosedAtTheHandshakeTimeout() throws IOException {
    connect();
    try (var peer = new BarePeer(server.accept())) {
      peer.say(BarePeer.greeting());
      assertThat(recorder.next()).isEqualTo("ended: no handshake within 5000 ms");
    }
  }

  @Test
  void aFailingListenerEndsItsConnectionAndIsNotified() throws IOException {
    var failing =
        new ZmtpListener() {
          @Override
          public void up() {
            recorder.up();
          }

          @Override
          public void message(byte[][] frames, int count) {
            recorder.message(frames, count);
            throw new IllegalStateException("thrown by the test");
          }

          @Override
          public void ended(@Nullable String violation) {
            recorder.ended(violation);
          }
        };
    ZmtpSubscriber.connect(
        ZmtpLoop.of(LOOPS),
        (InetSocketAddress) server.getLocalSocketAddress(),
        ZmtpBytes.ascii("kv"),
        2,
        MAX,
        failing);
    try (var peer = accepted()) {
      peer.say(framed("kv", false) + framed("never", false) + "\u00ff");
      assertThat(recorder.next()).isEqualTo("1: kv");
      assertThat(recorder.next()).isEqualTo("ended: null");
    }
  }

  @Test
  void whereNobodyListensThereIsNoConnection() throws IOException {
    server.close();
    connect();
    assertThat(recorder.next()).isEqualTo("ended: null");
  }

  @Test
  void lastWordsAreHeard() throws IOException {
    var connection = connect();
    try (var peer = accepted()) {
      connection.finish(Duration.ofSeconds(10));
      peer.say(framed("kv", true) + framed("last", false));
    }
    assertThat(recorder.next()).isEqualTo("2: kv last");
    assertThat(recorder.next()).isEqualTo("ended: null");
  }

  @Test
  void lastWordsAreNotAwaitedForEver() throws IOException {
    var connection = connect();
    try (var peer = accepted()) {
      connection.finish(Duration.ofMillis(50));
      assertThat(recorder.next()).isEqualTo("ended: null");
      assertThat(peer.rest()).isEmpty();
    }
  }
}
