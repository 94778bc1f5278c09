package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Our frontend before workers on NVIDIA's own runtime that make images, videos and speech. */
@ManyServers
@Sampled
class MediaPeerIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir static Path store;
  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // before all
  private static MediaPeers peers;

  @BeforeAll
  static void start() throws Exception {
    peers = MediaPeers.start("media", store, List.of("painter", "filmer", "speaker"));
  }

  @AfterAll
  static void stop() throws Exception {
    if (peers != null) {
      peers.close();
    }
  }

  @Test
  void openAisSdkGetsImagesAndSpeech() throws Exception {
    SdkScript.python("openai_media.py").run(folder, peers.frontend().uri("").toString());

    assertThat(peers.workers().console())
        .contains(
            "REQUEST image {\"prompt\": \"a cat\", \"model\": \"painter\", \"n\": 1, \"size\":"
                + " \"1024x1024\", \"extra_args\": {\"media_passthrough\": {\"steps\": 3}}}",
            "\"input_reference\": \"data:image/png;base64,iVBORw0KLS14\"",
            "REQUEST speech {\"input\": \"hi\", \"model\": \"speaker\", \"voice\": \"alloy\","
                + " \"response_format\": \"pcm\", \"nvext\": {\"frontend_accepts_audio_chunks\":"
                + " true}}");
  }

  @Test
  void answersAreAsDescribed() throws Exception {
    SdkScript.describedWorkers()
        .run(folder, peers.frontend().uri("").toString(), "painter", "filmer", "speaker");
  }

  @Test
  void videosComeWholeAsEventsAndAsPictures() throws Exception {
    var whole = peers.frontend().post("/v1/videos", "{\"model\":\"filmer\",\"prompt\":\"frames\"}");
    assertThat(whole.statusCode()).as(whole.body()).isEqualTo(200);
    assertThat(whole.body())
        .contains("\"status\":\"completed\"", "\"progress\":100", "anBlZzA=", "anBlZzI=");

    var events =
        peers
            .frontend()
            .post("/v1/videos", "{\"model\":\"filmer\",\"prompt\":\"late\",\"stream\":true}");
    assertThat(events.headers().firstValue("content-type")).contains("text/event-stream");
    assertThat(events.body())
        .contains("anBlZzA=", "anBlZzE=", "\"type\":\"internal_server_error\"")
        .endsWith("data: [DONE]\n\n");

    var pictures =
        peers.frontend().post("/v1/videos/stream", "{\"model\":\"filmer\",\"prompt\":\"frames\"}");
    assertThat(pictures.headers().firstValue("content-type"))
        .contains("multipart/x-mixed-replace; boundary=frame");
    assertThat(pictures.body()).isEqualTo(picture("jpeg0") + picture("jpeg1") + picture("jpeg2"));
  }

  private static String picture(String bytes) {
    return "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%s\r\n"
        .formatted(bytes.length(), bytes);
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/images/generations, painter, prompt",
    "/v1/videos, filmer, prompt",
    "/v1/videos/stream, filmer, prompt",
    "/v1/audio/speech, speaker, input"
  })
  void failuresBeforeTheFirstItemHaveAStatus(String path, String model, String field)
      throws Exception {
    var answer =
        peers.frontend().post(path, "{\"model\":\"%s\",\"%s\":\"fail\"}".formatted(model, field));

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(500);
  }

  @ParameterizedTest
  @CsvSource({"/v1/videos/stream, filmer, prompt", "/v1/audio/speech, speaker, input"})
  void streamsThatBreakOffDoNotLookComplete(String path, String model, String field)
      throws IOException {
    var raw = new String(send(path, model, field, "late").readAllBytes(), StandardCharsets.UTF_8);

    assertThat(raw).contains("HTTP/1.1 200", "1").doesNotContain("\r\n0\r\n");
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/images/generations, painter, prompt, image",
    "/v1/videos, filmer, prompt, video",
    "/v1/audio/speech, speaker, input, speech"
  })
  void workersOfClientsThatLeaveStop(String path, String model, String field, String kind)
      throws Exception {
    var connection = send(path, model, field, "slow");
    Polling.until(
        "the worker began",
        LIMIT,
        () ->
            peers
                .workers()
                .console()
                .contains("REQUEST %s {\"%s\": \"slow\"".formatted(kind, field)));
    connection.close();

    Polling.until(
        "the worker stopped", LIMIT, () -> peers.workers().console().contains("CANCELLED " + kind));
  }

  private static InputStream send(String path, String model, String field, String text)
      throws IOException {
    var body =
        "{\"model\":\"%s\",\"%s\":\"%s\"}"
            .formatted(model, field, text)
            .getBytes(StandardCharsets.UTF_8);
    var socket = new Socket(InetAddress.getLoopbackAddress(), peers.frontend().port());
    socket.setSoTimeout((int) LIMIT.toMillis());
    var head =
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            .formatted(path, body.length);
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().write(body);
    return socket.getInputStream(); // closing it closes the socket
  }
}
