package io.dynamo.wire;

import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a MessagePack value of unknown form: {@code null}, a {@code Boolean}, {@code Long}, {@code
 * BigInteger}, {@code Float}, {@code Double}, {@code String}, {@code byte[]}, or a list or map of
 * such. Names of maps become text. Allocation is bounded by the bytes present, not by announced
 * sizes.
 */
final class MsgpackValue {
  private MsgpackValue() {}

  static @Nullable Object read(MsgpackReader in) throws IOException {
    return read(in, 0);
  }

  private static @Nullable Object read(MsgpackReader in, int level) throws IOException {
    if (level > MsgpackReader.MAX_DEPTH) {
      throw new IOException("nested deeper than " + MsgpackReader.MAX_DEPTH);
    }
    if (in.isNil()) {
      return null;
    }
    int type = in.peek();
    return switch (type) {
      case MsgpackType.FALSE, MsgpackType.TRUE -> in.bool();
      case MsgpackType.FLOAT_32 -> (Object) in.float32();
      case MsgpackType.FLOAT_64 -> (Object) in.float64();
      case MsgpackType.UNSIGNED_64 -> number(in.unsigned());
      default -> {
        if (MsgpackType.isString(type)) {
          yield in.string();
        } else if (MsgpackType.isBinary(type)) {
          yield in.binary();
        } else if (MsgpackType.isMap(type)) {
          yield map(in, level);
        } else if (MsgpackType.isArray(type)) {
          yield list(in, level);
        }
        yield in.integer();
      }
    };
  }

  private static Object number(long unsigned) {
    return unsigned >= 0 ? (Object) unsigned : new BigInteger(Long.toUnsignedString(unsigned));
  }

  private static Object list(MsgpackReader in, int level) throws IOException {
    int count = in.arrayHeader();
    List<@Nullable Object> values = new ArrayList<>(Math.min(count, MsgpackReader.MAX_GUESS));
    for (int i = 0; i < count; i++) {
      values.add(read(in, level + 1));
    }
    return values;
  }

  private static Object map(MsgpackReader in, int level) throws IOException {
    int count = in.mapHeader();
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      var key = read(in, level + 1);
      values.put(String.valueOf(key), read(in, level + 1));
    }
    return values;
  }
}
