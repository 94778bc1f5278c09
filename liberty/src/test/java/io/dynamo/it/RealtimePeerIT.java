package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Realtime sessions of our frontend before a worker on NVIDIA's own runtime that takes streams. */
@ManyServers
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RealtimePeerIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir static Path store;
  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // before all
  private static MediaPeers peers;

  @BeforeAll
  static void start() throws Exception {
    peers = MediaPeers.start("realtime", store, List.of("talker"));
  }

  @AfterAll
  static void stop() throws Exception {
    if (peers != null) {
      peers.close();
    }
  }

  @Test
  void openAisSdkForPythonTalks() throws Exception {
    SdkScript.python("openai_realtime.py").run(folder, peers.frontend().uri("").toString());

    assertThat(peers.workers().console()).contains("\"type\": \"input_text\", \"text\": \"Hi\"");
  }

  @Test
  void openAisSdkForNodeTalks() throws Exception {
    SdkScript.nodeWithSockets("openai-realtime.mjs")
        .run(folder, peers.frontend().uri("").toString());

    assertThat(peers.workers().console()).contains("\"text\": \"Hi from Node\"");
  }

  @Test
  void openAisSdkForJavaTalks() throws Exception {
    OpenAiJavaTalk.run(peers.frontend().uri(""), "Hi from Java");

    assertThat(peers.workers().console()).contains("\"text\": \"Hi from Java\"");
    Polling.until("no session is left", LIMIT, () -> inflight().endsWith(" 0"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{|1007 malformed JSON frame",
        "{\"type\":5}|1007 malformed JSON frame",
        "{\"type\":\"response.cancel\"}|1000 stream complete",
      })
  void sessionsEndWithTheirReason(String event, String close) throws Exception {
    try (var client = RealtimeClient.talking(peers.frontend())) {
      client.send(event);

      client.await("closed " + close);
    }
  }

  @Test
  void everySessionIsHeardFromItsFirstEventOn() throws Exception {
    for (int i = 0; i < 100; i++) {
      try (var client = RealtimeClient.connect(peers.frontend())) {
        client.await("\"session.created\"");
        client.send(RealtimeClient.UPDATE.replace("talker", "nobody"));

        client.await("\"model_not_found\"");
      }
    }
  }

  @Test
  void binaryMessagesEndASession() throws Exception {
    try (var client = RealtimeClient.talking(peers.frontend())) {
      RealtimeClient.join(client.socket().sendBinary(ByteBuffer.wrap(new byte[3]), true));

      client.await("closed 1003 binary frames not supported");
    }
  }

  @Test
  void aFailureOfTheWorkerIsReported() throws Exception {
    try (var client = RealtimeClient.talking(peers.frontend())) {
      client.send("{\"type\":\"input_audio_buffer.clear\"}");

      client.await("\"server_error\"");
      client.await("closed 1011");
    }
  }

  @Test
  void messagesBeyondTheBoundEndASession() throws Exception {
    try (var client = RealtimeClient.connect(peers.frontend())) {
      client.await("\"session.created\"");
      var piece = "x".repeat(1 << 20);
      for (int i = 0; i < 17; i++) {
        RealtimeClient.join(
            client.socket().sendText(piece, false).exceptionally(_ -> client.socket()));
      }

      client.await("closed 1009");
    }
  }

  @Test
  void pingsAreAnswered() throws Exception {
    try (var client = RealtimeClient.connect(peers.frontend())) {
      client.await("\"session.created\"");
      RealtimeClient.join(client.socket().sendPing(ByteBuffer.wrap(new byte[5])));

      client.await("pong 5");
    }
  }

  @Test
  void theWorkerOfAClientThatClosesEndsRegularly() throws Exception {
    long before = ends();
    try (var client = RealtimeClient.talking(peers.frontend())) {
      RealtimeClient.join(client.socket().sendClose(WebSocket.NORMAL_CLOSURE, "bye"));

      client.await("closed 1000 bye");
      Polling.until("the worker's input ended", LIMIT, () -> ends() > before);
    }
    Polling.until("no session is left", LIMIT, () -> inflight().endsWith(" 0"));
  }

  @Test
  void theWorkerOfAClientThatIsGoneEnds() throws Exception {
    var client = RealtimeClient.talking(peers.frontend());
    client.close();

    Polling.until("no session is left", LIMIT, () -> inflight().endsWith(" 0"));
  }

  @Test
  void aClientThatFallsSilentKeepsNoPlace() throws Exception {
    try (var client = SilentClient.connect(peers.frontend())) {
      client.send(RealtimeClient.UPDATE);
      client.send("{\"type\":\"response.cancel\"}");
      client.awaitClose();

      Polling.until("no session is left", LIMIT, () -> inflight().endsWith(" 0"));
      client.awaitEnd();
    }
  }

  @Test
  void aSlowClientHoldsItsWorkerBackOnly() throws Exception {
    try (var slow = RealtimeClient.talking(peers.frontend())) {
      slow.send("{\"type\":\"output_audio_buffer.clear\",\"count\":400}");
      try (var other = RealtimeClient.talking(peers.frontend())) {
        other.send("{\"type\":\"response.create\"}");
        other.await("part0");
      }
      for (int i = 0; i < 400; i++) {
        slow.await("\"a" + i + "\"");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "GET, 400",
    "POST, 405",
  })
  void otherRequestsAreRefused(String method, int status) throws Exception {
    var answer =
        method.equals("GET")
            ? peers.frontend().get("/v1/realtime")
            : peers.frontend().post("/v1/realtime", "{}");

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).contains("\"error\"");
  }

  private static long ends() throws Exception {
    return peers.workers().console().lines().filter(line -> line.startsWith("TALK ended")).count();
  }

  private static String inflight() throws Exception {
    return peers
        .frontend()
        .get("/metrics")
        .body()
        .lines()
        .filter(
            line ->
                line.startsWith("dynamo_frontend_inflight_requests") && line.contains("\"talker\""))
        .findFirst()
        .map(line -> line.replaceFirst("\\.0$", ""))
        .orElse("none");
  }
}
