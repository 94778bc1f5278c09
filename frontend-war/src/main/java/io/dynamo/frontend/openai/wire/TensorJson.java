package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.kserve.InferRequest;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.inference.tensor.TensorType;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes tensors as the JSON of KServe's REST route. Outputs that the client wants as bytes stand
 * behind the JSON; the answer then begins with the length of its JSON in four bytes, the highest
 * first, which its sender takes off.
 */
final class TensorJson implements TensorFormat {
  private static final int COPIES = 3; // a text that grows, and the whole
  private static final int MOST_ESCAPED = 6; // characters of a byte: \u0000
  private static final int MOST_CHARACTERS = 25; // of a number and a comma

  private final String id;
  private final String model;
  private final WantedTensors wanted;

  TensorJson(InferRequest request, String model) {
    this.id = request.id();
    this.model = model;
    this.wanted = WantedTensors.of(request);
  }

  @Override
  public long writtenBytes(TensorResponse response) {
    long characters = 0;
    for (var tensor : response.tensors()) {
      var data = tensor.data();
      long held = data.bytes().remaining();
      characters +=
          wanted.isBinary(tensor.name())
              ? held
              : data.type() == TensorType.BYTES
                  ? MOST_ESCAPED * held
                  : MOST_CHARACTERS * (long) data.count();
    }
    return COPIES * characters;
  }

  @Override
  public byte[] whole(TensorResponse response) {
    var json = new ByteText(256);
    var binary = new ByteText(64);
    json.ascii("{\"model_name\":").quoted(model);
    json.ascii(",\"model_version\":\"").ascii(NamedModel.VERSION).ascii("\"");
    if (!id.isEmpty()) {
      json.ascii(",\"id\":").quoted(id);
    }
    if (!response.parameters().isEmpty()) {
      json.ascii(",\"parameters\":");
      parameters(json, response.parameters());
    }
    json.ascii(",\"outputs\":[");
    boolean behind = false;
    var before = "";
    for (var tensor : wanted.of(response.tensors())) {
      json.ascii(before);
      before = ",";
      behind |= wanted.isBinary(tensor.name());
      output(tensor, json, binary);
    }
    json.ascii("]}");
    if (!behind) {
      return json.toByteArray();
    }
    return ByteBuffer.allocate(Integer.BYTES + json.size() + binary.size())
        .putInt(json.size())
        .put(json.toByteArray())
        .put(binary.toByteArray())
        .array();
  }

  private void output(Tensor tensor, ByteText json, ByteText binary) {
    json.ascii("{\"name\":").quoted(tensor.name()).ascii(",\"datatype\":\"");
    json.ascii(tensor.data().type().name()).ascii("\",\"shape\":[");
    var before = "";
    for (long dimension : tensor.shape()) {
      json.ascii(before).number(dimension);
      before = ",";
    }
    json.ascii("]");
    var parameters = new TreeMap<>(tensor.parameters());
    boolean behind = wanted.isBinary(tensor.name());
    if (behind) {
      var bytes = new byte[tensor.data().bytes().remaining()];
      tensor.data().bytes().get(bytes);
      binary.append(bytes);
      parameters.put("binary_data_size", (long) bytes.length);
    }
    if (!parameters.isEmpty()) {
      json.ascii(",\"parameters\":");
      parameters(json, parameters);
    }
    if (!behind) {
      json.ascii(",\"data\":[");
      elements(tensor, json);
      json.ascii("]");
    }
    json.ascii("}");
  }

  private static void parameters(ByteText json, Map<String, Object> parameters) {
    json.ascii("{");
    var before = "";
    for (var parameter : new TreeMap<>(parameters).entrySet()) {
      json.ascii(before).quoted(parameter.getKey()).ascii(":");
      before = ",";
      switch (parameter.getValue()) {
        case Boolean flag -> json.ascii(flag.toString());
        case Long number -> json.number(number);
        case BigInteger number -> json.ascii(number.toString());
        case Double number when Double.isFinite(number) -> json.ascii(number.toString());
        default -> json.quoted(parameter.getValue().toString());
      }
    }
    json.ascii("}");
  }

  private static void elements(Tensor tensor, ByteText json) {
    var before = new String[] {""};
    switch (tensor.data()) {
      case TensorData.Strings strings ->
          strings.forEach(
              element -> {
                json.ascii(before[0]).quoted(text(tensor, element));
                before[0] = ",";
              });
      case TensorData.Numbers numbers -> {
        for (var bytes = numbers.bytes(); bytes.hasRemaining(); ) {
          json.ascii(before[0]);
          before[0] = ",";
          number(tensor, bytes, json);
        }
      }
    }
  }

  private static String text(Tensor tensor, ByteBuffer element) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(element).toString();
    } catch (CharacterCodingException e) {
      throw noJson(tensor, "an element that is no UTF-8");
    }
  }

  private static void number(Tensor tensor, ByteBuffer bytes, ByteText json) {
    switch (tensor.data().type()) {
      case BOOL -> json.ascii(bytes.get() == 0 ? "false" : "true");
      case INT8 -> json.number((long) bytes.get());
      case INT16 -> json.number((long) bytes.getShort());
      case INT32 -> json.number((long) bytes.getInt());
      case INT64 -> json.number(bytes.getLong());
      case UINT8 -> json.number((long) (bytes.get() & 0xFF));
      case UINT16 -> json.number((long) (bytes.getShort() & 0xFFFF));
      case UINT32 -> json.number(bytes.getInt() & 0xFFFF_FFFFL);
      case UINT64 -> json.ascii(Long.toUnsignedString(bytes.getLong()));
      case FP32 -> json.number((float) finite(tensor, bytes.getFloat()));
      case FP64 -> json.ascii(Double.toString(finite(tensor, bytes.getDouble())));
      case FP16, BF16, BYTES -> throw noJson(tensor, "the type " + tensor.data().type());
    }
  }

  private static double finite(Tensor tensor, double value) {
    if (!Double.isFinite(value)) {
      throw noJson(tensor, "the value " + value);
    }
    return value;
  }

  private static ApiException noJson(Tensor tensor, String what) {
    return new ApiException(
        ApiError.of(
            400,
            "the output '%s' has %s, for which there is no JSON; ask for its bytes: \"parameters\":{\"binary_data\":true}"
                .formatted(ApiError.shown(tensor.name()), what)));
  }

  @Override
  public void part(ByteText frames, TensorResponse response) {
    throw noStream();
  }

  @Override
  public void end(ByteText frames) {
    throw noStream();
  }

  @Override
  public void failure(ByteText frames, ApiError error) {
    throw noStream();
  }

  private static IllegalStateException noStream() {
    return new IllegalStateException("this route has no streams");
  }
}
