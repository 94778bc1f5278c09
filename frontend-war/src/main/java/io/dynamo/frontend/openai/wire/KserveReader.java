package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.kserve.InferRequest;
import io.dynamo.frontend.kserve.InferTensor;
import io.dynamo.frontend.kserve.TextTensors;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import java.math.BigInteger;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests in KServe's form for models of texts: the tensors {@code text_input} and {@code
 * streaming}, and parameters under the names that completions have.
 */
public final class KserveReader {
  private static final String MODEL = "model";
  private static final String STREAM = "stream";
  private static final String PROMPT = "prompt";
  private static final String ID = "id";
  private static final String OUTPUTS = "outputs";
  private static final String BINARY = "binary";
  private static final String RAW = "raw";
  private static final Set<String> OWN = Set.of(MODEL, STREAM, PROMPT, ID, OUTPUTS, BINARY, RAW);

  private static final Set<String> PARAMETERS =
      Set.of(
          "n",
          "max_tokens",
          "min_tokens",
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "frequency_penalty",
          "presence_penalty",
          "repetition_penalty",
          "seed",
          "stop",
          "ignore_eos",
          "include_stop_str_in_output",
          "skip_special_tokens",
          "guided_regex",
          "guided_grammar",
          "cache_salt",
          "user",
          InferRequest.MARK_END);

  private KserveReader() {}

  /** The parameters that requests may have. */
  public static Set<String> parameters() {
    return new TreeSet<>(PARAMETERS);
  }

  /** Whether a field of {@link #tree} is read. */
  public static boolean knows(String field) {
    return OWN.contains(field) || PARAMETERS.contains(field);
  }

  /**
   * Puts a request into the form of a JSON body, which the operator's rules apply to.
   *
   * @param mayStream whether the answer may come in parts
   * @throws ApiException with 400 when its tensors are not those of a text, with 404 when it names
   *     no model, or a version that no model has
   */
  public static ObjectNode tree(InferRequest request, boolean mayStream) {
    request.requireModel();
    var body = JsonNodeFactory.instance.objectNode();
    body.put(MODEL, request.model());
    boolean stream = readInputs(request, body);
    if (stream && !mayStream) {
      throw refuse("Streaming is not supported for this endpoint");
    }
    body.put(STREAM, stream);
    body.put(ID, request.id());
    body.put(RAW, request.raw());
    putOutputs(request, body);
    for (var parameter : request.parameters().entrySet()) {
      if (!parameter.getKey().equals(InferRequest.ALL_BINARY)) {
        putParameter(body, parameter.getKey(), parameter.getValue());
      }
    }
    return body;
  }

  /** Sets the prompt. Returns whether the inputs ask for a stream. */
  private static boolean readInputs(InferRequest request, ObjectNode body) {
    boolean stream = false;
    for (var input : request.inputs()) {
      switch (input.name()) {
        case TextTensors.TEXT_INPUT -> {
          requireFirst(!body.has(PROMPT), input);
          body.put(PROMPT, text(input));
        }
        case TextTensors.STREAMING, TextTensors.STREAM -> stream |= flag(input);
        default ->
            throw refuse(
                "Invalid input name: %s, supported inputs are 'text_input', 'stream'"
                    .formatted(ApiError.shown(input.name())));
      }
    }
    if (!body.has(PROMPT)) {
      throw refuse("Missing required input: 'text_input'");
    }
    return stream;
  }

  private static void requireFirst(boolean first, InferTensor input) {
    if (!first) {
      throw refuse("'%s' is there twice; send one".formatted(input.name()));
    }
  }

  private static String text(InferTensor input) {
    if (!input.datatype().equals("BYTES")) {
      throw refuse(
          "Expected 'text_input' to be of type BYTES for string input, got \"%s\""
              .formatted(ApiError.shown(input.datatype())));
    }
    if (!input.shape().equals(List.of(1L)) && !input.shape().equals(List.of(1L, 1L))) {
      throw refuse("Expected 'text_input' to have shape [1], got " + input.shape());
    }
    var strings = (TensorData.Strings) one(input, TensorType.BYTES, input.name());
    if (strings.text(0).isEmpty()) {
      throw refuse("'text_input' is empty; send a text to be continued");
    }
    return strings.text(0);
  }

  private static boolean flag(InferTensor input) {
    if (!input.datatype().equals("BOOL")) {
      throw refuse(
          "Expected '%s' to be of type BOOL, got \"%s\""
              .formatted(input.name(), ApiError.shown(input.datatype())));
    }
    if (!input.shape().equals(List.of(1L))) {
      throw refuse("Expected 'stream' to have shape [1], got " + input.shape());
    }
    var numbers = (TensorData.Numbers) one(input, TensorType.BOOL, TextTensors.STREAM);
    return numbers.bytes().get() != 0;
  }

  private static TensorData one(InferTensor input, TensorType type, String name) {
    var data = input.read(type, 1);
    if (data.count() == 0) {
      throw refuse("'%s' must contain exactly one element, and has none".formatted(name));
    }
    return data;
  }

  private static void putOutputs(InferRequest request, ObjectNode body) {
    var names = body.putArray(OUTPUTS);
    var binary = body.putArray(BINARY);
    boolean all = Boolean.TRUE.equals(request.parameters().get(InferRequest.ALL_BINARY));
    for (var output : request.outputs()) {
      names.add(output.name());
      var wanted = output.parameters().get(InferRequest.ONE_BINARY);
      if (wanted == null ? all : Boolean.TRUE.equals(wanted)) {
        binary.add(output.name());
      }
    }
    if (request.outputs().isEmpty() && all) {
      TextTensors.OUTPUTS.forEach(binary::add);
    }
  }

  private static void putParameter(ObjectNode body, String name, Object value) {
    if (OWN.contains(name)) {
      throw refuse("the parameter `%s` is set by the request itself; leave it out".formatted(name));
    }
    switch (value) {
      case Boolean flag -> body.put(name, flag);
      case Long number -> body.put(name, number);
      case BigInteger number -> body.put(name, number);
      case Double number -> body.put(name, number);
      default -> body.put(name, value.toString());
    }
  }

  /**
   * Reads and checks what {@link #tree} returned.
   *
   * @throws ApiException with 400
   */
  public static KserveRequest read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    var translation = new NativeRequest.Translation();
    for (var field : body.properties()) {
      var name = field.getKey();
      if (name.equals(MODEL) || name.equals(STREAM)) {
        translation.put(name, field.getValue());
      } else if (!OWN.contains(name) && !isForcedUsage(name, field.getValue())) {
        requireKnown(name);
        if (!name.equals(InferRequest.MARK_END)) {
          translation.put(name, field.getValue());
        }
      }
    }
    var common = translation.fields();
    if (common.stream().events() && common.choices() > 1) {
      throw GenerationReader.refusePlainly(
          "n",
          "n is %d, and the messages of a stream do not say which text they continue; set it to 1, or `streaming` to false"
              .formatted(common.choices()));
    }
    var outputs = outputs(body.get(OUTPUTS));
    return new KserveRequest(
        common,
        fields.requireString(PROMPT),
        fields.requireString(ID),
        outputs.isEmpty() ? Set.copyOf(TextTensors.OUTPUTS) : outputs,
        outputs(body.get(BINARY)),
        fields.bool(RAW),
        fields.bool(InferRequest.MARK_END));
  }

  /** Whether the operator's rules have set the field; there is no tensor for a usage. */
  private static boolean isForcedUsage(String name, JsonNode value) {
    return name.equals("stream_options") && value.isObject();
  }

  private static void requireKnown(String parameter) {
    if (!PARAMETERS.contains(parameter)) {
      var shown = ApiError.shown(parameter);
      throw new ApiException(
          new ApiError(
              400,
              "the parameter `%s` is not known; there are %s".formatted(shown, parameters()),
              "unsupported_parameter",
              shown,
              null));
    }
  }

  private static Set<String> outputs(@Nullable JsonNode names) {
    var outputs = new LinkedHashSet<String>();
    for (var name : names == null ? List.<JsonNode>of() : names) {
      if (!TextTensors.OUTPUTS.contains(name.textValue())) {
        throw refuse(
            "there is no output '%s'; the model has %s"
                .formatted(ApiError.shown(name.textValue()), TextTensors.OUTPUTS));
      }
      outputs.add(name.textValue());
    }
    return outputs;
  }

  private static ApiException refuse(String message) {
    return GenerationReader.refusePlainly(null, message);
  }

  /** The value of a finish reason's element. */
  static String finish(TokenFormat.Part part) {
    var finish = part.finish();
    return finish == null ? "" : ChunkFormat.wireName(finish);
  }
}
