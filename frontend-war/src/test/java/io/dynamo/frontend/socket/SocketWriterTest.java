package io.dynamo.frontend.socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Frames as clients get them, and the handshake before them. */
class SocketWriterTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private int writes;
  private int open;
  private final SocketWriter writer =
      new SocketWriter(
          out,
          new SocketWriter.Stall() {
            @Override
            public void begins() {
              writes++;
              open++;
            }

            @Override
            public void ends() {
              open--;
            }
          });

  @ParameterizedTest
  @CsvSource({
    "0, 8100",
    "125, 817d",
    "126, 817e007e",
    "1025, 817e0401",
    "65535, 817effff",
    "65536, 817f0000000000010000"
  })
  void lengthsAreWrittenInTheirShortestForm(int length, String head) throws Exception {
    writer.text(new byte[length]);

    var bytes = out.toByteArray();
    int headBytes = head.length() / 2;
    assertThat(HexFormat.of().formatHex(Arrays.copyOf(bytes, headBytes))).isEqualTo(head);
    assertThat(bytes).hasSize(headBytes + length);
    assertThat(writes).isOne();
    assertThat(open).isZero();
  }

  @Test
  void nothingFollowsAClose() throws Exception {
    writer.ping();
    writer.pong(new byte[] {7});
    writer.close(new CloseReason(CloseReason.NORMAL, "bye"));
    writer.close(new CloseReason(CloseReason.SERVER_ERROR, "again"));
    writer.closeWithin(Duration.ZERO, new CloseReason(CloseReason.SERVER_ERROR, "again"));

    assertThat(out.toByteArray())
        .containsExactly(0x89, 0, 0x8A, 1, 7, 0x88, 5, 0x03, 0xE8, 'b', 'y', 'e');
    assertThatThrownBy(() -> writer.text(new byte[1])).isInstanceOf(IOException.class);
  }

  @Test
  void aCloseWaitsForAWriteThatEndsInTime() throws Exception {
    var reason = new CloseReason(CloseReason.POLICY, "");
    var begun = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    var busy =
        new SocketWriter(
            out,
            new SocketWriter.Stall() {
              @Override
              public void begins() {
                begun.countDown();
                try {
                  boolean _ = goOn.await(60, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              }

              @Override
              public void ends() {}
            });
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var ping =
          threads.submit(
              () -> {
                busy.ping();
                return true;
              });
      assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
      busy.closeWithin(Duration.ofMillis(1), reason);
      assertThat(out.size()).isZero();

      var close = threads.submit(() -> busy.closeWithin(Duration.ofSeconds(60), reason));
      goOn.countDown();
      ping.get(60, TimeUnit.SECONDS);
      close.get(60, TimeUnit.SECONDS);
    }

    assertThat(out.toByteArray()).containsExactly(0x89, 0, 0x88, 2, 0x03, 0xF0);
  }

  @Test
  void reasonsAreCutToWhatAFrameTakes() throws Exception {
    writer.close(new CloseReason(CloseReason.NORMAL, "x".repeat(500)));

    assertThat(out.toByteArray()).hasSize(2 + 125);
  }

  @Test
  void theHandshakeOfTheStandardIsAccepted() {
    var headers =
        Map.of(
            "connection", "keep-alive, Upgrade",
            "upgrade", "WebSocket",
            "sec-websocket-version", "13",
            "sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");

    assertThat(SocketHandshake.fault(headers)).isNull();
    assertThat(SocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ=="))
        .isEqualTo("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  }

  @ParameterizedTest
  @CsvSource({
    "close, websocket, 13, dGhlIHNhbXBsZSBub25jZQ==, Connection",
    "upgrade, h2c, 13, dGhlIHNhbXBsZSBub25jZQ==, Upgrade",
    "upgrade, websocket, 12, dGhlIHNhbXBsZSBub25jZQ==, Version",
    "upgrade, websocket, 13, AAAA, Key",
    "upgrade, websocket, 13, %%%%, Key",
  })
  void otherHandshakesAreRefused(
      String connection, String upgrade, String version, String key, String named) {
    assertThat(
            SocketHandshake.fault(
                Map.of(
                    "connection", connection,
                    "upgrade", upgrade,
                    "sec-websocket-version", version,
                    "sec-websocket-key", key)))
        .contains(named);
    assertThat(SocketHandshake.fault(Map.of())).isNotNull();
  }
}
