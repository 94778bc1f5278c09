package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Asks a publisher that sends the bytes of a test. */
class ZmqReplayTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int MAX_BYTES = 1000;
  private static final long END = -1;

  private final List<String> heard = new ArrayList<>();
  private final ByteArrayOutputStream answer = new ByteArrayOutputStream();
  private ServerSocket server;

  @BeforeEach
  void greet() throws IOException {
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    var greeting = ByteBuffer.allocate(64);
    greeting.put((byte) 0xFF).putLong(1).put((byte) 0x7F).put((byte) 3).put((byte) 1);
    greeting.put("NULL".getBytes(StandardCharsets.US_ASCII));
    answer.write(greeting.array());
    command("READY", "");
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private void command(String name, String rest) {
    answer.write(4);
    answer.write(1 + name.length() + rest.length());
    answer.write(name.length());
    answer.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
    answer.writeBytes(rest.getBytes(StandardCharsets.US_ASCII));
  }

  private void frame(int flags, byte[] body) {
    answer.write(flags);
    answer.write(body.length);
    answer.writeBytes(body);
  }

  private void message(long sequence, String payload) {
    frame(1, new byte[0]);
    frame(1, "topic".getBytes(StandardCharsets.US_ASCII));
    frame(1, ByteBuffer.allocate(Long.BYTES).putLong(sequence).array());
    frame(0, payload.getBytes(StandardCharsets.US_ASCII));
  }

  /** Serves the answer to one connection, which stays open until the requester closes it. */
  private void request(Duration limit) throws IOException {
    var serving =
        Thread.ofVirtual()
            .start(
                () -> {
                  try (var socket = server.accept()) {
                    socket.getOutputStream().write(answer.toByteArray());
                    socket.getInputStream().readAllBytes();
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                });
    assertThat(serving).isNotNull();
    ZmqReplay.request(
        "tcp://127.0.0.1:" + server.getLocalPort(),
        7,
        MAX_BYTES,
        limit,
        (sequence, payload) ->
            heard.add(sequence + " " + new String(payload, StandardCharsets.US_ASCII)));
  }

  @Test
  void messagesUpToTheEndMarkArePassedOn() throws Exception {
    message(7, "a");
    command("PING", "\0\0ctx");
    message(8, "b");
    message(END, "");
    request(LIMIT);
    assertThat(heard).containsExactly("7 a", "8 b");
  }

  @Test
  void aPublisherThatFallsSilentIsGivenUp() {
    message(7, "a");
    assertThatThrownBy(() -> request(Duration.ofMillis(300))).isInstanceOf(IOException.class);
    assertThat(heard).containsExactly("7 a");
  }

  @Test
  void aFrameBeyondTheLimitIsRefusedBeforeItIsRead() {
    answer.write(2);
    answer.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(MAX_BYTES + 1).array());
    assertThatThrownBy(() -> request(LIMIT))
        .hasMessageContaining("a frame of 1001 bytes exceeds 1000");
  }

  @Test
  void messagesWithoutASequenceAreRefused() {
    frame(0, new byte[] {1});
    assertThatThrownBy(() -> request(LIMIT)).hasMessageContaining("without a sequence");
  }

  @Test
  void aMessageOfManyFramesIsRefused() {
    for (int i = 0; i < 9; i++) {
      frame(1, new byte[0]);
    }
    assertThatThrownBy(() -> request(LIMIT)).hasMessageContaining("more than 8 frames");
  }

  @Test
  void aRefusalOfThePeerEndsTheRequest() {
    command("ERROR", "no");
    assertThatThrownBy(() -> request(LIMIT)).hasMessageContaining("refuses");
  }

  @Test
  void aPeerOfAnotherProtocolIsRefused() {
    answer.reset();
    answer.writeBytes(
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\n"
            .repeat(4)
            .getBytes(StandardCharsets.US_ASCII));
    assertThatThrownBy(() -> request(LIMIT)).hasMessageContaining("does not speak ZMTP 3");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"tcp://127.0.0.1:70000", "tcp://127.0.0.1", "tcp://a b:1", "127.0.0.1:1", ""})
  void anAddressThatIsNoneIsAFailureOfTheRequest(String endpoint) {
    assertThatThrownBy(() -> ZmqReplay.request(endpoint, 0, MAX_BYTES, LIMIT, (_, _) -> {}))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is not tcp://host:port");
  }
}
