package io.dynamo.wire.generate;

import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes and reads the parameters of requests for tensors: each a map of its type to its value. */
final class TensorParameters {
  static final int MAX_PARAMETERS = 1024;

  private static final String BOOL = "bool";
  private static final String INT64 = "int64";
  private static final String STRING = "string";
  private static final String DOUBLE = "double";
  private static final String UINT64 = "uint64";

  private TensorParameters() {}

  /** Writes the entry {@code parameters}, unless there are none. */
  static void write(WireWriter out, Map<String, Object> parameters) throws IOException {
    if (parameters.isEmpty()) {
      return;
    }
    out.key("parameters");
    out.beginMap(parameters.size());
    for (var parameter : parameters.entrySet()) {
      out.key(parameter.getKey());
      out.beginMap(1);
      out.key(type(parameter.getValue()));
      out.any(parameter.getValue());
      out.endMap();
    }
    out.endMap();
  }

  private static String type(Object value) {
    return switch (value) {
      case Boolean _ -> BOOL;
      case Long _ -> INT64;
      case Double _ -> DOUBLE;
      case BigInteger _ -> UINT64;
      case String _ -> STRING;
      default -> throw new IllegalArgumentException(value.getClass() + " is no parameter's type");
    };
  }

  static Map<String, Object> read(WireReader in) throws IOException {
    if (!(in.any() instanceof Map<?, ?> all)) {
      throw new IOException("parameters are no map");
    }
    if (all.size() > MAX_PARAMETERS) {
      throw new IOException("there are more than " + MAX_PARAMETERS + " parameters");
    }
    var parameters = new HashMap<String, Object>();
    for (var entry : all.entrySet()) {
      parameters.put(String.valueOf(entry.getKey()), value(entry.getValue()));
    }
    return parameters;
  }

  private static Object value(@Nullable Object typed) throws IOException {
    if (typed instanceof Map<?, ?> choice && choice.size() == 1) {
      var only = choice.entrySet().iterator().next();
      var read = value(String.valueOf(only.getKey()), only.getValue());
      if (read != null) {
        return read;
      }
    }
    throw new IOException(
        "a parameter is no map of one of bool, int64, string, double, uint64 to its value");
  }

  private static @Nullable Object value(String type, @Nullable Object value) {
    return switch (type) {
      case BOOL -> value instanceof Boolean ? value : null;
      case STRING -> value instanceof String ? value : null;
      case DOUBLE -> value instanceof Number number ? (Object) number.doubleValue() : null;
      case INT64 -> isWhole(value) && value instanceof Number it ? (Object) it.longValue() : null;
      case UINT64 -> isUnsigned(value) ? new BigInteger(String.valueOf(value)) : null;
      default -> null;
    };
  }

  private static boolean isWhole(@Nullable Object value) {
    return value instanceof Long || value instanceof Integer;
  }

  private static boolean isUnsigned(@Nullable Object value) {
    return value instanceof BigInteger big
        ? big.signum() >= 0 && big.bitLength() <= Long.SIZE
        : isWhole(value) && value instanceof Number number && number.longValue() >= 0;
  }
}
