package io.dynamo.request.codec;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/** MessagePack. Announced sizes are checked against the bytes that are left before allocating. */
final class MsgpackReader implements WireReader {
  private static final int MAX_DEPTH = 64;

  private final MessageUnpacker in;
  private final int length;
  private int[] entriesLeft = new int[4]; // of each open map
  private int depth;
  private int expectedKey;
  private byte[] keyBytes = {};

  MsgpackReader(ByteBuffer body) {
    length = body.remaining();
    if (body.hasArray()) {
      in =
          MessagePack.newDefaultUnpacker(
              body.array(), body.arrayOffset() + body.position(), length);
    } else {
      var bytes = new byte[length];
      body.duplicate().get(bytes);
      in = MessagePack.newDefaultUnpacker(bytes);
    }
  }

  @Override
  public boolean isNil() throws IOException {
    return in.tryUnpackNil();
  }

  @Override
  public boolean isMap() throws IOException {
    return next().getValueType() == ValueType.MAP;
  }

  private MessageFormat next() throws IOException {
    if (!in.hasNext()) {
      throw new IOException("truncated at byte " + length);
    }
    return in.getNextFormat();
  }

  @Override
  public void beginMap() throws IOException {
    int size = mapHeader();
    if (depth == MAX_DEPTH) {
      throw new IOException("nested deeper than " + MAX_DEPTH);
    }
    if (depth == entriesLeft.length) {
      entriesLeft = Arrays.copyOf(entriesLeft, depth * 2);
    }
    entriesLeft[depth++] = size;
    expectedKey = 0;
  }

  private int mapHeader() throws IOException {
    return fitting(in.unpackMapHeader(), 2);
  }

  private int arrayHeader() throws IOException {
    return fitting(in.unpackArrayHeader(), 1);
  }

  private int fitting(int count, int bytesEach) throws IOException {
    if (count < 0 || count > (length - in.getTotalReadBytes()) / bytesEach) {
      throw new IOException(
          "%d elements do not fit in the rest of %d bytes".formatted(count, length));
    }
    return count;
  }

  @Override
  public int nextKey(Keys keys) throws IOException {
    if (entriesLeft[depth - 1] == 0) {
      depth--;
      return Keys.END;
    }
    entriesLeft[depth - 1]--;
    if (next().getValueType() != ValueType.STRING) {
      in.skipValue();
      return Keys.UNKNOWN;
    }
    int bytes = in.unpackRawStringHeader();
    if (bytes > keys.longest()) {
      fitting(bytes, 1);
      in.readPayload(bytes);
      return Keys.UNKNOWN;
    }
    if (keyBytes.length < keys.longest()) {
      keyBytes = new byte[keys.longest()];
    }
    in.readPayload(keyBytes, 0, bytes);
    int index = keys.indexOf(keyBytes, bytes, expectedKey < keys.size() ? expectedKey : 0);
    if (index >= 0) {
      expectedKey = index + 1 < keys.size() ? index + 1 : 0;
    }
    return index;
  }

  @Override
  public int[] ints() throws IOException {
    int count = arrayHeader();
    var values = new int[count];
    for (int i = 0; i < count; i++) {
      values[i] = in.unpackInt();
    }
    return values;
  }

  @Override
  public List<String> strings() throws IOException {
    int count = arrayHeader();
    List<String> values = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      values.add(string());
    }
    return values;
  }

  @Override
  public String string() throws IOException {
    return in.unpackString();
  }

  @Override
  public long integer() throws IOException {
    return in.unpackLong();
  }

  @Override
  public double number() throws IOException {
    return next().getValueType() == ValueType.INTEGER ? in.unpackLong() : in.unpackDouble();
  }

  @Override
  public boolean bool() throws IOException {
    return in.unpackBoolean();
  }

  @Override
  public @Nullable Object any() throws IOException {
    return any(0);
  }

  private @Nullable Object any(int level) throws IOException {
    if (level > MAX_DEPTH) {
      throw new IOException("nested deeper than " + MAX_DEPTH);
    }
    return switch (next().getValueType()) {
      case NIL -> {
        in.unpackNil();
        yield null;
      }
      case BOOLEAN -> in.unpackBoolean();
      case INTEGER -> integerValue();
      case FLOAT -> {
        if (in.getNextFormat() == MessageFormat.FLOAT32) {
          yield in.unpackFloat();
        }
        yield in.unpackDouble();
      }
      case STRING -> in.unpackString();
      case BINARY -> in.readPayload(fitting(in.unpackBinaryHeader(), 1));
      case ARRAY -> {
        int count = arrayHeader();
        List<@Nullable Object> values = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
          values.add(any(level + 1));
        }
        yield values;
      }
      case MAP -> {
        int count = mapHeader();
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
          var key = any(level + 1);
          values.put(String.valueOf(key), any(level + 1));
        }
        yield values;
      }
      case EXTENSION -> throw new IOException("extension types are not in use");
    };
  }

  private Object integerValue() throws IOException {
    if (in.getNextFormat() == MessageFormat.UINT64) {
      var big = in.unpackBigInteger();
      return big.bitLength() < Long.SIZE ? (Object) big.longValue() : big;
    }
    return in.unpackLong();
  }

  @Override
  public void skip() throws IOException {
    in.skipValue();
  }

  @Override
  public int position() {
    return (int) in.getTotalReadBytes();
  }

  @Override
  public int endOfSkipped() {
    return position();
  }

  @Override
  public void end() throws IOException {
    if (in.getTotalReadBytes() != length) {
      throw new IOException("%d bytes follow the value".formatted(length - in.getTotalReadBytes()));
    }
  }
}
