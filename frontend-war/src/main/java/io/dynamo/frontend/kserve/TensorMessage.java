package io.dynamo.frontend.kserve;

import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Writes answers of tensors as the protobuf message {@code ModelInferResponse}. */
public final class TensorMessage {
  private static final int PARAMETERS = 4;
  private static final int OUTPUTS = 5;
  private static final int RAW_CONTENTS = 6;
  private static final int KEY = 1;
  private static final int VALUE = 2;
  private static final int NAME = 1;
  private static final int DATATYPE = 2;
  private static final int SHAPE = 3;
  private static final int CONTENTS = 5;

  private TensorMessage() {}

  /** Appends the parameters of an answer, in the order of their names. */
  public static void parameters(ProtoBuffer message, Map<String, Object> parameters) {
    for (var parameter : new TreeMap<>(parameters).entrySet()) {
      int entry = message.open(PARAMETERS);
      message.string(KEY, parameter.getKey());
      int choice = message.open(VALUE);
      switch (parameter.getValue()) {
        case Boolean flag -> message.varint(1, flag ? 1 : 0);
        case Long number -> message.varint(2, number);
        case String text -> message.element(3, text);
        case Double number -> message.fixed64(4, number);
        case BigInteger number -> message.varint(5, number.longValue());
        default -> throw new IllegalArgumentException("a parameter has no such type");
      }
      message.close(choice);
      message.close(entry);
    }
  }

  /**
   * Appends the outputs.
   *
   * @param raw whether their contents are bytes; those of FP16 and BF16 have no other form, and all
   *     contents of a message have one
   */
  public static void outputs(ProtoBuffer message, List<Tensor> tensors, boolean raw) {
    boolean bytes = raw || tensors.stream().anyMatch(TensorMessage::isHalf);
    for (var tensor : tensors) {
      int output = message.open(OUTPUTS);
      message.string(NAME, tensor.name()).string(DATATYPE, tensor.data().type().name());
      if (!tensor.shape().isEmpty()) {
        int shape = message.open(SHAPE);
        for (long dimension : tensor.shape()) {
          message.rawVarint(dimension);
        }
        message.close(shape);
      }
      parameters(message, tensor.parameters());
      if (!bytes) {
        int contents = message.open(CONTENTS);
        typed(message, tensor.data());
        message.close(contents);
      }
      message.close(output);
    }
    if (bytes) {
      for (var tensor : tensors) {
        message.element(RAW_CONTENTS, tensor.data().bytes());
      }
    }
  }

  private static boolean isHalf(Tensor tensor) {
    return tensor.data().type() == TensorType.FP16 || tensor.data().type() == TensorType.BF16;
  }

  private static void typed(ProtoBuffer message, TensorData data) {
    switch (data) {
      case TensorData.Strings strings ->
          strings.forEach(element -> message.element(ProtoContents.BYTES, element));
      case TensorData.Numbers numbers -> {
        if (numbers.count() > 0) {
          int list = message.open(ProtoContents.field(numbers.type()));
          for (var bytes = numbers.bytes(); bytes.hasRemaining(); ) {
            switch (numbers.type()) {
              case BOOL -> message.rawVarint(bytes.get() == 0 ? 0 : 1);
              case INT8 -> message.rawVarint(bytes.get());
              case INT16 -> message.rawVarint(bytes.getShort());
              case INT32 -> message.rawVarint(bytes.getInt());
              case INT64, UINT64 -> message.rawVarint(bytes.getLong());
              case UINT8 -> message.rawVarint(bytes.get() & 0xFF);
              case UINT16 -> message.rawVarint(bytes.getShort() & 0xFFFF);
              case UINT32 -> message.rawVarint(bytes.getInt() & 0xFFFF_FFFFL);
              case FP32 -> message.rawFixed(bytes.getInt(), Float.BYTES);
              case FP64 -> message.rawFixed(bytes.getLong(), Double.BYTES);
              case FP16, BF16, BYTES ->
                  throw new IllegalArgumentException(numbers.type() + " has no typed numbers");
            }
          }
          message.close(list);
        }
      }
    }
  }
}
