package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The strict client against scripted answers: what is right passes, what is wrong is named. */
class ChatClientIT {
  private static final String HEAD =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  @AutoClose private final ServerSocket listener;

  ChatClientIT() throws IOException {
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  @Test
  void readsTextAcrossChunksAndComments() throws Exception {
    assertThat(
            text(
                HEAD + chunk(": ping\n\n") + chunk(frame("Hel")) + chunk(frame("lo") + DONE) + END))
        .isEqualTo("Hello");
  }

  @Test
  void missesTheEndMark() {
    assertThatThrownBy(() -> text(HEAD + chunk(frame("Hello")) + END))
        .hasMessageContaining("no [DONE]");
  }

  @Test
  void refusesWhatFollowsTheEndMark() {
    assertThatThrownBy(() -> text(HEAD + chunk(DONE + frame("more")) + END))
        .hasMessageContaining("event after the end");
  }

  @Test
  void noticesACutConnection() {
    assertThatThrownBy(() -> text(HEAD + chunk(frame("Hel")))).hasMessageContaining("ended inside");
  }

  @Test
  void refusesAForeignLine() {
    assertThatThrownBy(() -> text(HEAD + chunk("dat: x\n\n") + END))
        .hasMessageContaining("event line");
  }

  private static final String DONE = "data: [DONE]\n\n";
  private static final String END = "0\r\n\r\n";

  private static String frame(String text) {
    return "data: {\"choices\":[{\"delta\":{\"content\":\"" + text + "\"}}]}\n\n";
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
  }

  /** Returns the client's view of an answer. */
  private String text(String answer) throws Exception {
    try (var client = ChatClient.post(listener.getLocalPort(), "{}");
        var server = listener.accept()) {
      script(server, answer);
      return client.text();
    }
  }

  private static void script(Socket server, String answer) throws IOException {
    server.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
    server.shutdownOutput();
  }
}
