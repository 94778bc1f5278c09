package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads and checks requests for images, videos and speech. Fields that the API does not have go to
 * the worker in {@code extra_args}, as Dynamo sends them. For one request.
 */
final class MediaRequestReader {
  private static final int MAX_PROMPT = 1 << 20; // characters
  private static final double SLOWEST = 0.25;
  private static final double FASTEST = 4;
  private static final String PASSED_THROUGH = "media_passthrough";
  private static final String EXTENSION = "nvext";
  private static final String TAKES_CHUNKS = "frontend_accepts_audio_chunks";

  private static final List<String> SOURCES = List.of("url", "b64_json");
  private static final List<String> QUALITIES =
      List.of("standard", "hd", "high", "medium", "low", "xhigh", "max", "auto");
  private static final List<String> FORMATS = List.of("png", "jpeg", "webp");
  private static final List<String> MODERATIONS = List.of("auto", "low");
  private static final List<String> BACKGROUNDS = List.of("auto", "transparent", "opaque");
  private static final List<String> STYLES = List.of("vivid", "natural");

  /** Formats of sound that can be played while it arrives; one of them where none is named. */
  private static final Set<String> CHUNKED = Set.of("wav", "pcm");

  static final Set<String> OF_IMAGES =
      Set.of(
          "prompt",
          "model",
          "n",
          "quality",
          "response_format",
          "output_format",
          "output_compression",
          "stream",
          "partial_images",
          "size",
          "moderation",
          "background",
          "style",
          "user",
          "input_reference",
          EXTENSION);
  static final Set<String> OF_VIDEOS =
      Set.of(
          "prompt",
          "model",
          "input_reference",
          "seconds",
          "size",
          "user",
          "response_format",
          "output_format",
          "stream",
          EXTENSION);
  private static final List<String> VOICE_TEXTS =
      List.of("task_type", "language", "instructions", "ref_audio", "ref_text");
  static final Set<String> OF_SPEECH =
      Stream.concat(
              VOICE_TEXTS.stream(),
              Stream.of(
                  "input",
                  "model",
                  "voice",
                  "data_source",
                  "response_format",
                  "speed",
                  "max_new_tokens",
                  "user",
                  EXTENSION))
          .collect(Collectors.toUnmodifiableSet());

  private final TaskRequest.Kind kind;
  private final JsonFields fields;
  private final Map<String, Object> sent;

  /**
   * @param sent is filled with the body for the worker
   */
  MediaRequestReader(TaskRequest.Kind kind, JsonFields fields, Map<String, Object> sent) {
    this.kind = kind;
    this.fields = fields;
    this.sent = sent;
  }

  void read() {
    var prompt = fields.requireString(kind.promptField());
    if (prompt.length() > MAX_PROMPT) {
      throw TaskRequest.refused(
          kind.promptField(),
          "%s has %d characters, at most %d are allowed"
              .formatted(kind.promptField(), prompt.length(), MAX_PROMPT));
    }
    sent.put(kind.promptField(), prompt);
    text("model");
    switch (kind) {
      case IMAGES, IMAGE_EDITS -> readImage();
      case VIDEOS, VIDEO_FRAMES -> readVideo();
      case SPEECH -> readSpeech();
      case RERANK, CLASSIFY, POOLING -> throw new IllegalStateException(kind + " makes no media");
    }
    var further = new LinkedHashMap<String, Object>();
    for (var field : fields.unknown(kind.names()).entrySet()) {
      further.put(field.getKey(), JsonFields.plainValue(field.getValue()));
    }
    if (!further.isEmpty()) {
      sent.put("extra_args", Map.of(PASSED_THROUGH, further));
    }
  }

  private void readImage() {
    small("n");
    oneOf("quality", QUALITIES);
    oneOf("response_format", SOURCES);
    oneOf("output_format", FORMATS);
    small("output_compression");
    flag("stream");
    small("partial_images");
    text("size");
    oneOf("moderation", MODERATIONS);
    oneOf("background", BACKGROUNDS);
    oneOf("style", STYLES);
    text("user");
    text("input_reference");
    if (kind == TaskRequest.Kind.IMAGE_EDITS && !sent.containsKey("input_reference")) {
      throw TaskRequest.refused(
          "input_reference", "input_reference is required for /v1/images/edits");
    }
    extension(
        (from, to) -> {
          putAnnotations(from, to);
          TaskRequest.putIfPresent(to, "negative_prompt", from.string("negative_prompt"));
          putSmall(from, to, "num_inference_steps");
          TaskRequest.putIfPresent(to, "guidance_scale", number(from, "guidance_scale"));
          putWhole(from, to, "seed");
        });
  }

  private void readVideo() {
    text("input_reference");
    int32(fields, sent, "seconds");
    text("size");
    text("user");
    oneOf("response_format", SOURCES);
    text("output_format");
    flag("stream");
    extension(
        (from, to) -> {
          putAnnotations(from, to);
          int32(from, to, "fps");
          int32(from, to, "num_frames");
          TaskRequest.putIfPresent(to, "negative_prompt", from.string("negative_prompt"));
          putSmall(from, to, "num_inference_steps");
          TaskRequest.putIfPresent(to, "guidance_scale", number(from, "guidance_scale"));
          putWhole(from, to, "seed");
          TaskRequest.putIfPresent(to, "boundary_ratio", number(from, "boundary_ratio"));
          TaskRequest.putIfPresent(to, "guidance_scale_2", number(from, "guidance_scale_2"));
        });
  }

  private void readSpeech() {
    text("voice");
    oneOf("data_source", SOURCES);
    text("response_format");
    var speed = number(fields, "speed");
    if (speed != null && (speed < SLOWEST || speed > FASTEST)) {
      throw TaskRequest.refused("speed", "Validation: speed: speed must be between 0.25 and 4.0");
    }
    TaskRequest.putIfPresent(sent, "speed", speed);
    for (var name : VOICE_TEXTS) {
      text(name);
    }
    int32(fields, sent, "max_new_tokens");
    text("user");
    boolean chunks = arrivesInChunks(sent);
    extension(
        (from, to) -> {
          putAnnotations(from, to);
          TaskRequest.putIfPresent(to, TAKES_CHUNKS, from.optionalBool(TAKES_CHUNKS));
          TaskRequest.putIfPresent(to, "cfg_scale", number(from, "cfg_scale"));
          if (chunks) {
            to.put(TAKES_CHUNKS, true);
          }
        });
    if (chunks && !sent.containsKey(EXTENSION)) {
      sent.put(EXTENSION, Map.of(TAKES_CHUNKS, true));
    }
  }

  /** Whether the answer to a request for speech is sent on while its pieces arrive. */
  static boolean arrivesInChunks(Map<String, Object> body) {
    var format = body.get("response_format");
    return !"url".equals(body.get("data_source"))
        && body.getOrDefault("speed", 1.0).equals(1.0) // others are applied to the whole
        && (format == null || CHUNKED.contains(format));
  }

  /** The same for a body that is not checked. */
  static boolean arrivesInChunks(JsonNode body) {
    var read = new LinkedHashMap<String, Object>();
    for (var name : List.of("data_source", "response_format")) {
      if (body.hasNonNull(name)) {
        read.put(name, body.get(name).asText());
      }
    }
    if (body.hasNonNull("speed")) {
      read.put("speed", body.get("speed").asDouble());
    }
    return arrivesInChunks(read);
  }

  private interface Extension {
    void read(JsonFields from, Map<String, Object> to);
  }

  private void extension(Extension known) {
    var given = fields.get(EXTENSION);
    if (given != null) {
      var extension = new LinkedHashMap<String, Object>();
      known.read(JsonFields.of(given, EXTENSION), extension);
      sent.put(EXTENSION, extension);
    }
  }

  private static void putAnnotations(JsonFields from, Map<String, Object> to) {
    if (from.get("annotations") != null) {
      to.put("annotations", from.strings("annotations"));
    }
  }

  private void text(String name) {
    TaskRequest.putIfPresent(sent, name, fields.string(name));
  }

  private void flag(String name) {
    TaskRequest.putIfPresent(sent, name, fields.optionalBool(name));
  }

  private void oneOf(String name, List<String> known) {
    TaskRequest.putIfPresent(sent, name, TaskRequest.oneOf(fields, name, known));
  }

  /** A whole number of 0 to 255. */
  private void small(String name) {
    putSmall(fields, sent, name);
  }

  private static void putSmall(JsonFields from, Map<String, Object> to, String name) {
    TaskRequest.putIfPresent(to, name, from.integer(name, 0, 255));
  }

  private static void int32(JsonFields from, Map<String, Object> to, String name) {
    TaskRequest.putIfPresent(to, name, from.integer(name, Integer.MIN_VALUE, Integer.MAX_VALUE));
  }

  private static @Nullable Double number(JsonFields from, String name) {
    var value = from.decimal(name);
    return value == null ? null : (Double) value.doubleValue();
  }

  private static void putWhole(JsonFields from, Map<String, Object> to, String name) {
    TaskRequest.putIfPresent(to, name, from.whole(name, Long.MIN_VALUE, Long.MAX_VALUE));
  }
}
