package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.openai.wire.MediaAnswer;
import io.dynamo.frontend.openai.wire.RelayedAnswer;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.TaskOutput;
import io.dynamo.metrics.Label;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Images, videos and speech: memory, failures on the way, forms, models that are not named. */
class MediaAnswersTest {
  private static final Map<String, String> FORM =
      Map.of("content-type", "multipart/form-data; boundary=X");

  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void bodyWorkers() {
    frontend.modelInput = "Text";
  }

  @AfterEach
  void everythingIsGivenBack() {
    assertThat(frontend.bodies.heldBytes()).isZero();
    frontend.closeIdle();
  }

  private void serve(Api api) {
    frontend.api = api;
    frontend.modelTypes = api.modelTypes();
  }

  private static TaskOutput item(Map<String, Object> entry) {
    var fields = new HashMap<String, Object>();
    fields.put("id", "1");
    fields.put("model", "script");
    fields.put("status", "completed");
    fields.put("created", 1);
    fields.put("data", List.of(entry));
    return new TaskOutput(fields);
  }

  private static TaskOutput sound(String base64) {
    return item(Map.of("output_format", "wav", "b64_json", base64));
  }

  private long counted(String status, String type) {
    return frontend
        .metrics
        .counter(
            FrontendMetrics.REQUESTS,
            new Label("model", "script"),
            new Label("endpoint", "audios"),
            new Label("request_type", "stream"),
            new Label("status", status),
            new Label("error_type", type))
        .value();
  }

  @Test
  void bytesOfAWorkerAreChargedAsTheyAreWritten() {
    var item = Map.of("x", List.of(new byte[1000]));

    assertThat(MediaAnswer.heapBytes(item)).isGreaterThan(2000);
    assertThat(RelayedAnswer.textBytes(item)).isEqualTo(2000);
  }

  @Test
  void abortAllEndsWhatIsBeingMade() {
    serve(TextService.IMAGES);
    frontend.endless = true;
    frontend.taskItems = List.of();
    frontend.completions.abortAll(
        new EngineFailedException(
            ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the server is stopping", null));

    var answer = frontend.post("{\"model\":\"script\",\"prompt\":\"a\"}");

    assertThat(answer.status).isEqualTo(503);
  }

  @Test
  void aStreamOfSoundThatBreaksOffIsCutAndCounted() {
    serve(TextService.SPEECH);
    frontend.taskItems = List.of(sound("YQ=="), sound("Yg=="));
    frontend.taskFailure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "late", null);

    var answer = frontend.post("{\"model\":\"script\",\"input\":\"a\"}");

    assertThat(answer.text()).isEqualTo("ab");
    assertThat(answer.isCut).isTrue();
    assertThat(counted("error", "internal")).isOne();
  }

  @Test
  void aWholeStreamOfSoundIsNotCut() {
    serve(TextService.SPEECH);
    frontend.taskItems =
        List.of(sound("YQ=="), item(Map.of("output_format", "wav")), sound("Yg=="));

    var answer = frontend.post("{\"model\":\"script\",\"input\":\"a\"}");

    assertThat(answer.text()).isEqualTo("ab");
    assertThat(answer.isCut).isFalse();
    assertThat(counted("success", "")).isOne();
  }

  @Test
  void aClientThatIsGoneIsCountedAsGone() {
    serve(TextService.SPEECH);
    frontend.taskItems = List.of(sound("YQ=="));
    var answer = new FrontendFixture.Recorded();
    answer.wire =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException("gone");
          }
        };

    frontend.post(
        "{\"model\":\"script\",\"input\":\"a\"}".getBytes(StandardCharsets.UTF_8),
        Map.of(),
        answer);

    assertThat(answer.isCut).isTrue();
    assertThat(counted("error", "cancelled")).isOne();
  }

  /** The memory for requests is 64 × 4096 bytes. */
  @Test
  void anAnswerThatMemoryHasNoRoomForIsRefused() {
    serve(TextService.IMAGES);
    var image = "A".repeat(40_000);
    frontend.taskItems =
        Collections.nCopies(
            3, new TaskOutput(Map.of("created", 1, "data", List.of(Map.of("b64_json", image)))));

    var answer = frontend.post("{\"model\":\"script\",\"prompt\":\"a\"}");

    assertThat(answer.status).isEqualTo(503);
  }

  @Test
  void aStreamHoldsOneItemAtATime() {
    serve(TextService.VIDEOS);
    var picture = item(Map.of("b64_json", "A".repeat(40_000)));
    frontend.taskItems = Collections.nCopies(20, picture);

    var answer = frontend.post("{\"model\":\"script\",\"prompt\":\"a\",\"stream\":true}");

    assertThat(answer.status).isEqualTo(200);
    assertThat(answer.text()).endsWith("data: [DONE]\n\n").doesNotContain("\"error\"");
  }

  @Test
  void aFormIsReadForEditsOnly() {
    var form =
        String.join(
                "\r\n",
                "--X",
                "Content-Disposition: form-data; name=\"prompt\"",
                "",
                "p",
                "--X",
                "Content-Disposition: form-data; name=\"model\"",
                "",
                "script",
                "--X",
                "Content-Disposition: form-data; name=\"image\"; filename=\"a.png\"",
                "",
                "abc",
                "--X--",
                "")
            .getBytes(StandardCharsets.UTF_8);
    serve(TextService.IMAGE_EDITS);
    frontend.taskItems =
        List.of(new TaskOutput(Map.of("created", 1, "data", List.of(Map.of("url", "http://x/y")))));

    assertThat(frontend.post(form, FORM).status).isEqualTo(200);
    assertThat(Objects.requireNonNull(frontend.askedTask).body())
        .containsEntry("input_reference", "data:image/png;base64,YWJj");
    serve(TextService.IMAGES);
    assertThat(frontend.post(form, FORM).status).isEqualTo(415);
  }

  @Test
  void speechWithoutAModelIsRefusedWhereNoneSpeaks() {
    serve(TextService.SPEECH);
    frontend.modelTypes = Set.of("Images");

    var answer = frontend.post("{\"input\":\"a\"}");

    assertThat(answer.status).isEqualTo(404);
    assertThat(answer.text()).contains("names no model");
  }

  @Test
  void promptsAreBounded() {
    serve(TextService.IMAGES);
    try (var roomy =
        new FrontendFixture(Duration.ofSeconds(30), FakeHangUps.unwatched(), 8 << 20)) {
      roomy.api = TextService.IMAGES;
      roomy.modelInput = "Text";
      roomy.modelTypes = roomy.api.modelTypes();

      var answer =
          roomy.post("{\"model\":\"script\",\"prompt\":\"" + "a".repeat((1 << 20) + 1) + "\"}");

      assertThat(answer.status).isEqualTo(400);
      assertThat(answer.text()).contains("1048577 characters");
    }
  }
}
