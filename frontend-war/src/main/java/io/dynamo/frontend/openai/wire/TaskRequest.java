package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A checked request whose body goes to a worker: the fields that the API has, with its defaults.
 *
 * @param body as the worker gets it
 */
public record TaskRequest(Kind kind, GenerationFields fields, Map<String, Object> body) {
  private static final int MAX_INPUTS = 2048;
  private static final int MAX_TOKENS = 1 << 24; // to which a worker may cut a prompt
  private static final List<String> SIDES = List.of("left", "right");
  private static final List<String> ENCODINGS = List.of("float", "base64", "bytes", "bytes_only");
  private static final String METADATA = "bytes";
  private static final int MAX_PLACES = 32; // which clients read in headers of 8 KiB
  private static final List<String> NUMBERS =
      List.of("float32", "float16", "bfloat16", "fp8_e4m3", "fp8_e5m2");
  private static final List<String> BYTE_ORDERS = List.of("native", "big", "little");

  private static final Set<String> OF_RERANK =
      Set.of("model", "query", "documents", "top_n", "return_documents");
  private static final Set<String> OF_INPUT =
      Set.of(
          "model",
          "input",
          "user",
          "request_id",
          "priority",
          "mm_processor_kwargs",
          "cache_salt",
          "use_activation",
          "add_special_tokens",
          "truncate_prompt_tokens",
          "truncation_side",
          "nvext");
  private static final Set<String> OF_POOLING =
      Stream.concat(
              OF_INPUT.stream(),
              Stream.of("task", "encoding_format", "embed_dtype", "endianness", "dimensions"))
          .collect(Collectors.toUnmodifiableSet());

  /** An API of this form. */
  public enum Kind {
    RERANK("rerank", "rerank", "Rerank", "query"),
    CLASSIFY("classify", "classify", "Classify", "input"),
    POOLING("pooling", "pooling", "Pooling", "input"),
    IMAGES("images/generations", "images", "Images", "prompt"),
    IMAGE_EDITS("images/edits", "images", "Images", "prompt"),
    VIDEOS("videos", "videos", "Videos", "prompt"),
    VIDEO_FRAMES("videos/stream", "videos", "Videos", "prompt"),
    SPEECH("audio/speech", "audios", "Audios", "input");

    private final String path;
    private final String endpoint;
    private final String modelType;
    private final String promptField;

    Kind(String path, String endpoint, String modelType, String promptField) {
      this.path = path;
      this.endpoint = endpoint;
      this.modelType = modelType;
      this.promptField = promptField;
    }

    /** Its path below {@code /v1}. */
    public String path() {
      return path;
    }

    /** Its label in metrics. */
    public String endpoint() {
      return endpoint;
    }

    /** The model type of the workers that serve it. */
    public String modelType() {
      return modelType;
    }

    /** The request's field that holds the text. */
    public String promptField() {
      return promptField;
    }

    /** Whether a request asks for a stream; other fields may be invalid. */
    public boolean asksForStream(JsonNode body) {
      return switch (this) {
        case RERANK, CLASSIFY, POOLING, IMAGES, IMAGE_EDITS -> false;
        case VIDEOS -> JsonBody.asksForStream(body);
        case VIDEO_FRAMES -> true;
        case SPEECH -> MediaRequestReader.arrivesInChunks(body);
      };
    }

    /** The top-level fields of its requests. */
    public Set<String> names() {
      return switch (this) {
        case RERANK -> OF_RERANK;
        case CLASSIFY -> OF_INPUT;
        case POOLING -> OF_POOLING;
        case IMAGES, IMAGE_EDITS -> MediaRequestReader.OF_IMAGES;
        case VIDEOS, VIDEO_FRAMES -> MediaRequestReader.OF_VIDEOS;
        case SPEECH -> MediaRequestReader.OF_SPEECH;
      };
    }
  }

  public TaskRequest {
    body = Collections.unmodifiableMap(new LinkedHashMap<>(body)); // null inside is JSON's
  }

  /** Whether the client asks for bytes in the place of JSON. */
  public boolean wantsBytes() {
    return wantsMetadata() || "bytes_only".equals(body.get("encoding_format"));
  }

  /** Whether the client gets the items of the answer as they come. */
  public boolean wantsStream() {
    return switch (kind) {
      case VIDEOS -> fields.stream().events();
      case VIDEO_FRAMES -> true;
      case SPEECH -> MediaRequestReader.arrivesInChunks(body);
      case RERANK, CLASSIFY, POOLING, IMAGES, IMAGE_EDITS -> false;
    };
  }

  /** Whether the client asks for a description of the bytes. */
  boolean wantsMetadata() {
    return METADATA.equals(body.get("encoding_format"));
  }

  /**
   * Reads and checks. Unknown fields are ignored, as Dynamo does.
   *
   * @throws ApiException with 400
   */
  public static TaskRequest read(Kind kind, JsonNode body) {
    var fields = JsonFields.of(body, "");
    var translation = new NativeRequest.Translation();
    translation.put("model", fields.require("model"));
    var sent = new LinkedHashMap<String, Object>();
    sent.put("model", fields.requireString("model"));
    switch (kind) {
      case RERANK -> readRerank(fields, sent);
      case CLASSIFY, POOLING -> {
        translation.put("user", fields.get("user"));
        translation.put("nvext", fields.get("nvext"));
        readInput(fields, sent);
        if (kind == Kind.POOLING) {
          readPooling(fields, sent);
        }
      }
      case IMAGES, IMAGE_EDITS, VIDEOS, VIDEO_FRAMES, SPEECH -> {
        if (fields.get("stream") != null && kind != Kind.SPEECH) {
          translation.put("stream", fields.get("stream"));
        }
        sent.clear(); // the prompt goes first
        new MediaRequestReader(kind, fields, sent).read();
      }
    }
    return new TaskRequest(kind, translation.fields(), sent);
  }

  private static void readRerank(JsonFields fields, Map<String, Object> sent) {
    var query = fields.requireString("query");
    if (query.isBlank()) {
      throw refused("query", "Query cannot be empty or whitespace only");
    }
    if (fields.require("documents").isNull()) {
      throw JsonFields.wrong("documents", fields.require("documents"), "a sequence");
    }
    var documents = fields.strings("documents");
    if (documents.isEmpty()) {
      throw refused("documents", "Documents cannot be empty");
    }
    checkCount("documents", documents.size());
    sent.put("query", query);
    sent.put("documents", documents);
    var top = fields.integer("top_n", Integer.MIN_VALUE, Integer.MAX_VALUE);
    if (top != null && top < 1) {
      throw refused("top_n", "Parameter 'top_n' must be larger than 0");
    }
    putIfPresent(sent, "top_n", top);
    sent.put("return_documents", !Boolean.FALSE.equals(fields.optionalBool("return_documents")));
  }

  private static void readInput(JsonFields fields, Map<String, Object> sent) {
    var input = fields.require("input");
    checkInput(input);
    sent.put("input", JsonFields.plainValue(input));
    putIfPresent(sent, "user", fields.string("user"));
    putIfPresent(sent, "request_id", fields.string("request_id"));
    var priority = fields.whole("priority", Long.MIN_VALUE, Long.MAX_VALUE);
    sent.put("priority", priority == null ? Long.valueOf(0) : priority);
    if (fields.get("mm_processor_kwargs") != null) {
      sent.put("mm_processor_kwargs", fields.map("mm_processor_kwargs"));
    }
    var salt = fields.string("cache_salt");
    if (salt != null && salt.isEmpty()) {
      throw refused("cache_salt", "Parameter 'cache_salt' must be a non-empty string if provided.");
    }
    putIfPresent(sent, "cache_salt", salt);
    putIfPresent(sent, "use_activation", fields.optionalBool("use_activation"));
    putIfPresent(sent, "add_special_tokens", fields.optionalBool("add_special_tokens"));
    putIfPresent(
        sent, "truncate_prompt_tokens", fields.integer("truncate_prompt_tokens", -1, MAX_TOKENS));
    putIfPresent(sent, "truncation_side", oneOf(fields, "truncation_side", SIDES));
    if (fields.get("nvext") != null) {
      sent.put("nvext", fields.map("nvext"));
    }
  }

  private static void readPooling(JsonFields fields, Map<String, Object> sent) {
    if (fields.get("dimensions") != null) {
      throw refused("dimensions", "dimensions is currently not supported");
    }
    putIfPresent(sent, "task", fields.string("task"));
    var encoding = oneOf(fields, "encoding_format", ENCODINGS);
    if (METADATA.equals(encoding) && inputs(sent.get("input")) > MAX_PLACES) {
      throw refused(
          "input",
          "encoding_format `bytes` describes each input in a header, of %d at most; send fewer, or take `bytes_only`"
              .formatted(MAX_PLACES));
    }
    sent.put("encoding_format", encoding == null ? "float" : encoding);
    putIfPresent(sent, "embed_dtype", oneOf(fields, "embed_dtype", NUMBERS));
    putIfPresent(sent, "endianness", oneOf(fields, "endianness", BYTE_ORDERS));
  }

  private static int inputs(@Nullable Object input) {
    return input instanceof List<?> list && !(list.getFirst() instanceof Number) ? list.size() : 1;
  }

  /** Checks a text, texts, token ids or lists of these. */
  private static void checkInput(JsonNode input) {
    if (input.isTextual()) {
      return;
    }
    if (!input.isArray()) {
      throw wrongInput("input", input);
    }
    if (input.isEmpty()) {
      throw refused("input", "Input array cannot be empty");
    }
    var first = input.get(0);
    if (first.isIntegralNumber()) {
      Nvext.tokenIds(input, "input");
      return;
    }
    checkCount("input", input.size());
    for (int i = 0; i < input.size(); i++) {
      var element = input.get(i);
      var path = "input[" + i + "]";
      if (first.isTextual() ? !element.isTextual() : !element.isArray() || element.isEmpty()) {
        throw wrongInput(path, element);
      }
      if (element.isArray()) {
        Nvext.tokenIds(element, path);
      }
    }
  }

  private static void checkCount(String name, int count) {
    if (count > MAX_INPUTS) {
      throw refused(name, "%s: at most %d are allowed, got %d".formatted(name, MAX_INPUTS, count));
    }
  }

  static @Nullable String oneOf(JsonFields fields, String name, List<String> known) {
    var value = fields.string(name);
    if (value != null && !known.contains(value)) {
      throw JsonBody.invalidBody(
          "%s: unknown variant `%s`, expected one of %s"
              .formatted(
                  name,
                  JsonFields.clipped(value),
                  String.join(", ", known.stream().map(it -> "`" + it + "`").toList())));
    }
    return value;
  }

  static void putIfPresent(Map<String, Object> map, String name, @Nullable Object value) {
    if (value != null) {
      map.put(name, value);
    }
  }

  static ApiException refused(String field, String message) {
    return new ApiException(new ApiError(400, message, null, field, null));
  }

  private static RuntimeException wrongInput(String path, JsonNode value) {
    return JsonFields.wrong(
        path, value, "a string, a list of strings, a list of token ids or a list of such lists");
  }
}
