package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.kserve.InferRequest;
import io.dynamo.frontend.kserve.InferTensor;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.kserve.RawContents;
import io.dynamo.frontend.kserve.TextTensors;
import io.dynamo.inference.tensor.WantedOutput;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the JSON of KServe's REST routes, and of Triton's for texts. */
final class KserveJson {
  private static final String BINARY_SIZE = "binary_data_size";
  private static final Set<String> FIELDS = Set.of("id", "parameters", "inputs", "outputs");
  private static final int MAX_TENSORS = 1024;

  private KserveJson() {}

  /**
   * Reads the body of {@code infer}.
   *
   * @param jsonBytes of the body; tensors' contents follow, those of each input in their order
   * @throws io.dynamo.frontend.ApiException with 400
   */
  static InferRequest infer(NamedModel model, byte[] body, int jsonBytes) {
    if (jsonBytes < 0 || jsonBytes > body.length) {
      throw GenerationReader.refusePlainly(
          null,
          "Inference-Header-Content-Length is %d, and the body has %d bytes"
              .formatted(jsonBytes, body.length));
    }
    var json = JsonBody.parse(jsonBytes == body.length ? body : Arrays.copyOf(body, jsonBytes));
    var fields = JsonFields.of(json, "");
    for (var field : json.properties()) {
      if (!FIELDS.contains(field.getKey())) {
        throw GenerationReader.refusePlainly(
            field.getKey(),
            "the field `%s` is not known; there are id, parameters, inputs and outputs"
                .formatted(JsonFields.clipped(field.getKey())));
      }
    }
    var rest = ByteBuffer.wrap(body, jsonBytes, body.length - jsonBytes);
    var inputs = new ArrayList<InferTensor>();
    for (var input : list(fields, "inputs")) {
      inputs.add(input(JsonFields.of(input, "inputs[" + inputs.size() + "]"), rest));
    }
    if (rest.hasRemaining()) {
      throw GenerationReader.refusePlainly(
          "inputs",
          "%d bytes behind the JSON belong to no input; set %s of each"
              .formatted(rest.remaining(), BINARY_SIZE));
    }
    var outputs = new ArrayList<WantedOutput>();
    for (var output : list(fields, "outputs")) {
      var wanted = JsonFields.of(output, "outputs[" + outputs.size() + "]");
      outputs.add(new WantedOutput(wanted.requireString("name"), parameters(wanted)));
    }
    var id = fields.string("id");
    return new InferRequest(
        model.name(),
        model.version(),
        id == null ? "" : id,
        parameters(fields),
        inputs,
        outputs,
        jsonBytes < body.length);
  }

  /**
   * Reads the body of {@code generate}: {@code text_input}, and parameters beside it or in {@code
   * parameters}.
   *
   * @param stream whether the answer is a stream
   * @throws io.dynamo.frontend.ApiException with 400
   */
  static InferRequest generate(NamedModel model, byte[] body, boolean stream) {
    var json = JsonBody.parse(body);
    var fields = JsonFields.of(json, "");
    var parameters = new LinkedHashMap<>(parameters(fields));
    var id = "";
    for (var field : json.properties()) {
      switch (field.getKey()) {
        case TextTensors.TEXT_INPUT, "parameters" -> {}
        case "id" -> id = fields.requireString("id");
        case TextTensors.STREAM, TextTensors.STREAMING ->
            requireForm(fields, field.getKey(), stream);
        default -> put(field.getKey(), field.getValue(), parameters);
      }
    }
    var text = fields.requireString(TextTensors.TEXT_INPUT);
    var inputs = new ArrayList<InferTensor>();
    inputs.add(
        new InferTensor(
            TextTensors.TEXT_INPUT, "BYTES", List.of(1L), Map.of(), JsonContents.of(text)));
    if (stream) {
      inputs.add(
          new InferTensor(
              TextTensors.STREAM, "BOOL", List.of(1L), Map.of(), JsonContents.of(true)));
    }
    return new InferRequest(
        model.name(), model.version(), id, parameters, inputs, List.of(), false);
  }

  private static void requireForm(JsonFields fields, String name, boolean stream) {
    if (fields.bool(name) != stream) {
      throw GenerationReader.refusePlainly(
          name,
          stream
              ? "`%s` is false; ask `generate` for a whole answer".formatted(name)
              : "`%s` is true; ask `generate_stream` for a stream".formatted(name));
    }
  }

  private static List<JsonNode> list(JsonFields fields, String name) {
    var node = fields.get(name);
    if (node == null) {
      return List.of();
    }
    if (!node.isArray()) {
      throw JsonFields.wrong(name, node, "a list");
    }
    if (node.size() > MAX_TENSORS) {
      throw GenerationReader.refusePlainly(
          name, "`%s` has %d entries, at most %d".formatted(name, node.size(), MAX_TENSORS));
    }
    var entries = new ArrayList<JsonNode>();
    node.forEach(entries::add);
    return entries;
  }

  private static InferTensor input(JsonFields input, ByteBuffer rest) {
    var name = input.requireString("name");
    var parameters = new LinkedHashMap<>(parameters(input));
    var size = parameters.remove(BINARY_SIZE);
    return new InferTensor(
        name,
        input.requireString("datatype"),
        shape(input),
        parameters,
        contents(name, input.get("data"), size, rest));
  }

  private static InferTensor.Contents contents(
      String name, @Nullable JsonNode data, @Nullable Object size, ByteBuffer rest) {
    if (size == null) {
      if (data == null) {
        throw GenerationReader.refusePlainly(
            "inputs", "'%s' has neither `data` nor %s".formatted(name, BINARY_SIZE));
      }
      return new JsonContents(data);
    }
    if (data != null) {
      throw GenerationReader.refusePlainly(
          "inputs", "'%s' has `data` and %s; send one of the two".formatted(name, BINARY_SIZE));
    }
    if (!(size instanceof Long bytes) || bytes < 0 || bytes > rest.remaining()) {
      throw GenerationReader.refusePlainly(
          "inputs",
          "%s of '%s' is %s, and %d bytes are left behind the JSON"
              .formatted(BINARY_SIZE, name, size, rest.remaining()));
    }
    var own = rest.slice(rest.position(), bytes.intValue());
    rest.position(rest.position() + bytes.intValue());
    return new RawContents(own);
  }

  private static List<Long> shape(JsonFields input) {
    var node = input.require("shape");
    var shape = new ArrayList<Long>();
    if (!node.isArray() || node.size() > 64) {
      throw JsonFields.wrong(input.path("shape"), node, "a list of at most 64 whole numbers");
    }
    for (var dimension : node) {
      if (!dimension.isIntegralNumber() || !dimension.canConvertToLong()) {
        throw JsonFields.wrong(input.path("shape"), dimension, "a whole number");
      }
      shape.add(dimension.longValue());
    }
    return shape;
  }

  private static Map<String, Object> parameters(JsonFields fields) {
    var parameters = new LinkedHashMap<String, Object>();
    var node = fields.get("parameters");
    if (node != null) {
      JsonFields.of(node, fields.path("parameters"));
      node.properties().forEach(entry -> put(entry.getKey(), entry.getValue(), parameters));
    }
    return parameters;
  }

  private static void put(String name, JsonNode value, Map<String, Object> into) {
    if (value.isNull()) {
      return;
    }
    Object plain;
    if (value.isBoolean()) {
      plain = value.booleanValue();
    } else if (value.isIntegralNumber() && value.canConvertToLong()) {
      plain = value.longValue();
    } else if (value.isNumber()) {
      plain = value.doubleValue();
    } else if (value.isTextual()) {
      plain = value.textValue();
    } else {
      throw JsonFields.wrong(name, value, "a number, a string or a boolean");
    }
    into.put(name, plain);
  }
}
