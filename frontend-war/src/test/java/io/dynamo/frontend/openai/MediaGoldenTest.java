package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NumericNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.TaskOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Images, videos and speech, compared with requests and answers captured from Dynamo 1.6.1 before a
 * scripted worker, which is played here as it behaved there.
 */
class MediaGoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SHAPE = "Failed to deserialize the JSON body into the target type: ";
  private static final Map<String, Api> APIS =
      Map.of(
          "/v1/images/generations", TextService.IMAGES,
          "/v1/images/edits", TextService.IMAGE_EDITS,
          "/v1/videos", TextService.VIDEOS,
          "/v1/videos/stream", TextService.VIDEO_FRAMES,
          "/v1/audio/speech", TextService.SPEECH);
  private static final Set<String> MODELS = Set.of("painter", "filmer", "speaker");

  /**
   * Answered in another way here, on purpose: an answer without items or with broken ones is a
   * failure with a status where Dynamo gives an empty one, fails after its status line or only
   * skips them; a whole video has the state of its last item; speech without a model has one
   * chosen.
   */
  private static final Map<String, Integer> BETTER =
      Map.ofEntries(
          Map.entry("/v1/images/generations worker_none", 500),
          Map.entry("/v1/videos worker_none", 500),
          Map.entry("/v1/videos stream_none", 500),
          Map.entry("/v1/videos stream_fail", 500),
          Map.entry("/v1/videos stream_value", 400),
          Map.entry("/v1/videos/stream mjpeg_fail", 500),
          Map.entry("/v1/videos/stream mjpeg_value", 400),
          Map.entry("/v1/videos/stream mjpeg_none", 500),
          Map.entry("/v1/audio/speech empty_model", 400),
          Map.entry("/v1/audio/speech no_model", 200),
          Map.entry("/v1/audio/speech null_model", 200));

  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void textWorkers() {
    frontend.modelInput = "Text";
  }

  @AfterEach
  void close() {
    assertThat(frontend.bodies.heldBytes()).isZero();
    frontend.closeIdle();
  }

  record Case(String name, JsonNode capture) {
    @Override
    public String toString() {
      return name;
    }

    String path() {
      return capture.get("request").get("path").asText();
    }
  }

  static Stream<Case> cases() throws IOException {
    try (var in = MediaGoldenTest.class.getResourceAsStream("/golden/media.json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(
              it ->
                  new Case(
                      it.get("request").get("path").asText() + " " + it.get("name").asText(), it));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isAnsweredAsDynamoAnswersIt(Case captured) throws IOException {
    frontend.api = Objects.requireNonNull(APIS.get(captured.path()));
    frontend.modelTypes = frontend.api.modelTypes();
    var body = captured.capture().get("request").get("body").deepCopy();
    if (body instanceof ObjectNode object
        && MODELS.contains(object.path("model").asText())
        && !captured.name().endsWith("other_model")) {
      object.put("model", "script");
    }
    play(captured, body);

    var answer = frontend.post(body.toString().getBytes(StandardCharsets.UTF_8), Map.of());

    var theirs = captured.capture().get("response");
    int status = BETTER.getOrDefault(captured.name(), theirs.get("status").asInt());
    assertThat(answer.status).as(answer.text()).isEqualTo(status);
    compareTask(captured);
    if (BETTER.containsKey(captured.name())) {
      return;
    }
    if (status == 200) {
      compareAnswer(captured, answer);
    } else if (status == 400) {
      compareRefusal(theirs, answer);
    }
  }

  /**
   * Compares the body for the worker, but for its model's name, single precision and nulls of known
   * fields.
   */
  private void compareTask(Case captured) throws IOException {
    var received = captured.capture().path("worker_received");
    if (received.isMissingNode() || received.isNull()) {
      if (!BETTER.containsKey(captured.name())) {
        assertThat(frontend.askedTask).isNull();
      }
      return;
    }
    var sent = (ObjectNode) received.get(0).deepCopy();
    sent.put("model", "script");
    if (captured.name().endsWith(" nulls") && sent.has("extra_args")) {
      ((ObjectNode) sent.get("extra_args").get("media_passthrough")).remove(List.of("size", "n"));
    }
    var asked = Objects.requireNonNull(frontend.askedTask);
    var ours = JSON.readTree(JSON.writeValueAsString(asked.body()));
    assertThat(rounded(ours).toString()).isEqualTo(rounded(sent).toString());
  }

  private static void compareRefusal(JsonNode theirs, FrontendFixture.Recorded answer)
      throws IOException {
    var json = theirs.get("json");
    if (json.has("status")) { // the worker's own report
      assertThat(JSON.readTree(answer.text())).isEqualTo(JSON.readTree(renamed(json.toString())));
      return;
    }
    var ours = JSON.readTree(answer.text()).get("message").asText();
    var message = json.get("message").asText();
    if (message.startsWith(SHAPE)) {
      assertThat(ours).startsWith(SHAPE).hasSizeGreaterThan(SHAPE.length());
    } else {
      assertThat(ours).isEqualTo(message);
    }
  }

  private static void compareAnswer(Case captured, FrontendFixture.Recorded answer)
      throws IOException {
    var theirs = captured.capture().get("response");
    if (!theirs.has("json")) {
      assertThat(answer.text()).isEqualTo(renamed(theirs.get("text").asText()));
      assertThat(answer.events ? "text/event-stream" : answer.contentType)
          .isEqualTo(theirs.get("content_type").asText());
      return;
    }
    var expected = (ObjectNode) JSON.readTree(renamed(theirs.get("json").toString()));
    if (captured.name().equals("/v1/videos worker_frames")) {
      expected.put("status", "completed").put("progress", 100); // of the last item, not the first
    }
    assertThat(without(JSON.readTree(answer.text()))).isEqualTo(without(expected));
  }

  private static String renamed(String text) {
    return text.replace("\"model\":\"filmer\"", "\"model\":\"script\"")
        .replace("\"model\":\"speaker\"", "\"model\":\"script\"");
  }

  /** Without nulls, and without the fields that the scripted worker made up. */
  private static JsonNode without(JsonNode node) {
    if (node instanceof ObjectNode object) {
      object.remove("extra");
      object.properties().removeIf(entry -> entry.getValue().isNull());
    }
    node.forEach(MediaGoldenTest::without);
    return node;
  }

  private static JsonNode rounded(JsonNode node) {
    if (node instanceof NumericNode number && number.isFloatingPointNumber()) {
      return JSON.getNodeFactory().numberNode(number.floatValue());
    }
    if (node instanceof ObjectNode object) {
      object.properties().forEach(entry -> entry.setValue(rounded(entry.getValue())));
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        array.set(i, rounded(array.get(i)));
      }
    }
    return node;
  }

  /** Has the worker answer as the scripted one did. */
  private void play(Case captured, JsonNode body) {
    var prompt = body.path("prompt").asText(body.path("input").asText());
    frontend.taskItems =
        switch (captured.path()) {
          case "/v1/images/generations", "/v1/images/edits" -> images(prompt);
          case "/v1/audio/speech" -> sounds(prompt, body);
          default -> videos(prompt);
        };
    frontend.taskFailure =
        switch (prompt) {
          case "fail", "frames-fail", "chunks-fail" ->
              new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "late", null);
          case "value" -> new InvalidRequestException("Invalid request");
          default -> null;
        };
  }

  private static Map<String, Object> entry(String key, Object value, Map<String, Object> more) {
    var entry = new LinkedHashMap<String, Object>();
    entry.put(key, value);
    entry.putAll(more);
    return entry;
  }

  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<TaskOutput> images(String prompt) {
    return switch (prompt) {
      case "fail", "value", "none" -> List.of();
      case "garbage" -> List.of(new TaskOutput(Map.of("x", 1)));
      case "nodata" -> List.of(image(1, List.of(), Map.of()));
      case "urls" -> List.of(image(2, List.of(Map.of("url", "http://x/y.png")), Map.of()));
      case "two" ->
          List.of(image(1, List.of(Map.of("b64_json", encoded("a"))), Map.of()), painted(prompt));
      default -> List.of(painted(prompt));
    };
  }

  private static TaskOutput painted(String prompt) {
    var usage = Map.of("total_tokens", 3, "input_tokens", 1, "output_tokens", 2);
    var whole = new LinkedHashMap<String, Object>(usage);
    whole.put("input_tokens_details", Map.of("text_tokens", 1, "image_tokens", 0));
    var picture =
        entry(
            "b64_json", encoded("image of " + prompt), Map.of("revised_prompt", "more " + prompt));
    picture.put("extra", 1);
    return image(
        1,
        List.of(picture),
        Map.of("size", "1024x1024", "output_format", "png", "usage", whole, "zusatz", 7));
  }

  private static TaskOutput image(int created, List<?> data, Map<String, Object> more) {
    var fields = entry("created", created, Map.of("data", data));
    fields.putAll(more);
    return new TaskOutput(fields);
  }

  private static TaskOutput job(String kind, int progress, String status, List<?> data) {
    var fields = new LinkedHashMap<String, Object>();
    fields.put("id", kind.equals("video") ? "v1" : "a1");
    fields.put("object", kind);
    fields.put("model", "script");
    fields.put("status", status);
    fields.put("progress", progress);
    fields.put("created", 5);
    fields.put("data", data);
    return new TaskOutput(fields);
  }

  private static List<TaskOutput> videos(String prompt) {
    switch (prompt) {
      case "fail", "value", "none" -> {
        return List.of();
      }
      case "garbage" -> {
        return List.of(new TaskOutput(Map.of("x", 1)));
      }
      case "failed" -> {
        var item = job("video", 100, "failed", List.of());
        return List.of(new TaskOutput(entry("error", "no luck", asMap(item)))).stream()
            .map(MediaGoldenTest::errorLast)
            .toList();
      }
      default -> {}
    }
    int count = prompt.startsWith("frames") ? 3 : 1;
    var items = new ArrayList<TaskOutput>();
    for (int i = 0; i < count && !(prompt.equals("frames-fail") && i == 2); i++) {
      int progress = 100 * (i + 1) / count;
      List<?> data =
          i != 1 || count == 1 || prompt.equals("frames") || prompt.equals("frames-fail")
              ? List.of(entry("output_format", "jpeg", Map.of("b64_json", encoded("jpeg" + i))))
              : prompt.equals("frames-bad") ? List.of(Map.of("b64_json", "%%%")) : List.of();
      var item = asMap(job("video", progress, progress < 100 ? "in_progress" : "completed", data));
      item.put("inference_time_s", 0.5);
      items.add(new TaskOutput(item));
    }
    return items;
  }

  private static TaskOutput errorLast(TaskOutput item) {
    var fields = asMap(item);
    var error = fields.remove("error");
    fields.put("error", error);
    return new TaskOutput(fields);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> asMap(TaskOutput item) {
    return (Map<String, Object>) Objects.requireNonNull(item.json());
  }

  private static List<TaskOutput> sounds(String prompt, JsonNode body) {
    var format = body.path("response_format").asText("null");
    format = format.equals("null") ? "wav" : format;
    switch (prompt) {
      case "fail", "value", "none" -> {
        return List.of();
      }
      case "garbage" -> {
        return List.of(new TaskOutput(Map.of("x", 1)));
      }
      case "failed" -> {
        var item = asMap(job("audio.speech", 100, "failed", List.of()));
        item.put("error", "no luck");
        return List.of(new TaskOutput(item));
      }
      case "empty" -> {
        return List.of(job("audio.speech", 100, "completed", List.of()));
      }
      default -> {}
    }
    if (body.path("data_source").asText().equals("url")) {
      return List.of(sound(Map.of("output_format", format, "url", "http://x/y." + format)));
    }
    return switch (prompt) {
      case "badb64" -> List.of(sound(Map.of("output_format", format, "b64_json", "%%%")));
      case "nofmt" -> List.of(sound(Map.of("b64_json", encoded("sound"))));
      case "chunks", "chunks-fail" ->
          Stream.of(0, 1, 2)
              .limit(prompt.equals("chunks") ? 3 : 2)
              .map(i -> piece(body, "chunk" + i))
              .toList();
      case "other" ->
          List.of(sound(Map.of("output_format", "mp3", "b64_json", encoded("sound of other"))));
      default -> List.of(piece(body, "sound of " + prompt));
    };
  }

  private static TaskOutput piece(JsonNode body, String text) {
    var format = body.path("response_format").asText("wav");
    return sound(
        Map.of("output_format", format.equals("null") ? "wav" : format, "b64_json", encoded(text)));
  }

  private static TaskOutput sound(Map<String, Object> data) {
    return job("audio.speech", 100, "completed", List.of(data));
  }
}
