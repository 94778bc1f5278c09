package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.kserve.InferTensor;
import io.dynamo.inference.tensor.TensorBytes;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Contents of a tensor as JSON: a list of its elements, or lists in it, in row-major order. */
record JsonContents(JsonNode data) implements InferTensor.Contents {
  static JsonContents of(String text) {
    return new JsonContents(JsonNodeFactory.instance.textNode(text));
  }

  static JsonContents of(boolean flag) {
    return new JsonContents(JsonNodeFactory.instance.booleanNode(flag));
  }

  @Override
  public TensorData read(TensorType type, InferTensor tensor, int most) {
    if (type == TensorType.BYTES) {
      var strings = new TensorBytes(type);
      var seen = new int[1];
      forEach(
          data,
          value -> {
            tensor.requireRoom(++seen[0], most);
            require(value.isTextual(), value, type, tensor);
            strings.add(value.textValue().getBytes(StandardCharsets.UTF_8));
          });
      return strings.data();
    }
    if (type == TensorType.FP16 || type == TensorType.BF16) {
      throw GenerationReader.refusePlainly(
          "inputs",
          "'%s' is of type %s, whose elements are sent as bytes behind the JSON only"
              .formatted(tensor.shownName(), type));
    }
    var count = new int[1];
    forEach(data, _ -> tensor.requireRoom(++count[0], most));
    var bytes = ByteBuffer.allocate(Math.multiplyExact(count[0], type.elementBytes()));
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    forEach(data, value -> put(value, type, tensor, bytes));
    return new TensorData.Numbers(type, bytes.flip());
  }

  @Override
  public long heapBytes(TensorType type, int most) {
    var sum = new long[1];
    forEach(
        data,
        value ->
            sum[0] +=
                type == TensorType.BYTES // in an array that grows
                    ? 2 * (Integer.BYTES + 3L * value.asText().length())
                    : type.elementBytes());
    return sum[0];
  }

  /** Calls {@code element} at each value; the nesting is bounded by that of all JSON. */
  private static void forEach(JsonNode node, Consumer<JsonNode> element) {
    if (node.isArray()) {
      node.forEach(inner -> forEach(inner, element));
    } else {
      element.accept(node);
    }
  }

  private static void put(JsonNode value, TensorType type, InferTensor tensor, ByteBuffer into) {
    switch (type) {
      case BOOL -> {
        require(value.isBoolean(), value, type, tensor);
        into.put((byte) (value.booleanValue() ? 1 : 0));
      }
      case FP32 -> {
        require(value.isNumber() && Float.isFinite(value.floatValue()), value, type, tensor);
        into.putFloat(value.floatValue());
      }
      case FP64 -> {
        require(value.isNumber() && Double.isFinite(value.doubleValue()), value, type, tensor);
        into.putDouble(value.doubleValue());
      }
      case UINT64 -> {
        require(
            value.isIntegralNumber()
                && value.bigIntegerValue().signum() >= 0
                && value.bigIntegerValue().bitLength() <= Long.SIZE,
            value,
            type,
            tensor);
        into.putLong(value.bigIntegerValue().longValue());
      }
      case INT64 -> {
        require(value.isIntegralNumber() && value.canConvertToLong(), value, type, tensor);
        into.putLong(value.longValue());
      }
      case INT8, INT16, INT32, UINT8, UINT16, UINT32 -> putSmall(value, type, tensor, into);
      case FP16, BF16, BYTES -> throw new IllegalArgumentException(type + " is no number here");
    }
  }

  private static void putSmall(
      JsonNode value, TensorType type, InferTensor tensor, ByteBuffer into) {
    int bits = Byte.SIZE * type.elementBytes();
    boolean signed = type.name().startsWith("INT");
    long low = signed ? -(1L << (bits - 1)) : 0;
    long high = signed ? (1L << (bits - 1)) - 1 : (1L << bits) - 1;
    require(
        value.isIntegralNumber()
            && value.canConvertToLong()
            && value.longValue() >= low
            && value.longValue() <= high,
        value,
        type,
        tensor);
    for (int i = 0; i < type.elementBytes(); i++) {
      into.put((byte) (value.longValue() >>> (Byte.SIZE * i)));
    }
  }

  private static void require(boolean fits, JsonNode value, TensorType type, InferTensor tensor) {
    if (!fits) {
      throw wrong(value, type, tensor);
    }
  }

  private static ApiException wrong(JsonNode value, TensorType type, InferTensor tensor) {
    return JsonFields.wrong(
        "inputs", value, "a value of %s, the type of '%s',".formatted(type, tensor.shownName()));
  }
}
