package io.dynamo.wire.generate;

import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorBytes;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads a tensor in Dynamo's form: its description, and its elements as a list of
 * values. FP16 and BF16 travel as the whole numbers of their bits, elements of BYTES as lists of
 * numbers.
 */
final class TensorShape {
  static final int MAX_TENSORS = 1024;
  static final int MAX_DIMENSIONS = 64;

  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int METADATA = 0;
    static final int DATA = 1;
    static final Keys KEYS = new Keys(Keys.entry(METADATA, "metadata"), Keys.entry(DATA, "data"));
  }

  /** The positions of the names in {@link #KEYS}, of a description. */
  private static final class MetadataField {
    static final int NAME = 0;
    static final int DATA_TYPE = 1;
    static final int SHAPE = 2;
    static final int PARAMETERS = 3;
    static final Keys KEYS =
        new Keys(
            Keys.entry(NAME, "name"),
            Keys.entry(DATA_TYPE, "data_type"),
            Keys.entry(SHAPE, "shape"),
            Keys.entry(PARAMETERS, "parameters"));
  }

  /** The positions of the names in {@link #KEYS}, of the elements. */
  private static final class DataField {
    static final int DATA_TYPE = 0;
    static final int VALUES = 1;
    static final Keys KEYS =
        new Keys(Keys.entry(DATA_TYPE, "data_type"), Keys.entry(VALUES, "values"));
  }

  private TensorShape() {}

  static void write(WireWriter out, Tensor tensor) throws IOException {
    var type = tensor.data().type().workerName();
    out.beginMap(2);
    out.key("metadata");
    out.beginMap(tensor.parameters().isEmpty() ? 3 : 4);
    out.key("name");
    out.string(tensor.name());
    out.key("data_type");
    out.string(type);
    out.key("shape");
    out.beginArray(tensor.shape().size());
    for (long dimension : tensor.shape()) {
      out.integer(dimension);
    }
    out.endArray();
    TensorParameters.write(out, tensor.parameters());
    out.endMap();
    out.key("data");
    out.beginMap(2);
    out.key("data_type");
    out.string(type);
    out.key("values");
    writeValues(out, tensor.data());
    out.endMap();
    out.endMap();
  }

  private static void writeValues(WireWriter out, TensorData data) throws IOException {
    out.beginArray(data.count());
    var bytes = data.bytes();
    while (bytes.hasRemaining()) {
      switch (data.type()) {
        case BOOL -> out.bool(bytes.get() != 0);
        case INT8 -> out.integer(bytes.get());
        case INT16 -> out.integer(bytes.getShort());
        case INT32 -> out.integer(bytes.getInt());
        case INT64 -> out.integer(bytes.getLong());
        case UINT8 -> out.integer(bytes.get() & 0xFF);
        case UINT16, FP16, BF16 -> out.integer(bytes.getShort() & 0xFFFF);
        case UINT32 -> out.integer(bytes.getInt() & 0xFFFF_FFFFL);
        case UINT64 -> out.unsigned(bytes.getLong());
        case FP32 -> out.float32(bytes.getFloat());
        case FP64 -> out.float64(bytes.getDouble());
        case BYTES -> writeElement(out, bytes);
      }
    }
    out.endArray();
  }

  private static void writeElement(WireWriter out, ByteBuffer bytes) throws IOException {
    int length = bytes.getInt();
    out.beginArray(length);
    for (int i = 0; i < length; i++) {
      out.integer(bytes.get() & 0xFF);
    }
    out.endArray();
  }

  /**
   * @param body that {@code in} reads
   */
  static Tensor read(WireReader in, ByteBuffer body, PayloadFormat format) throws IOException {
    Metadata metadata = null;
    TensorData data = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      switch (key) {
        case Field.METADATA -> metadata = metadata(in);
        case Field.DATA -> data = data(in, body, format);
        default -> in.skip();
      }
    }
    if (metadata == null || data == null) {
      throw new IOException((metadata == null ? "metadata" : "data") + " of a tensor is missing");
    }
    if (metadata.type != data.type()) {
      throw new IOException(
          "a tensor is of type %s, and its data of type %s".formatted(metadata.type, data.type()));
    }
    return new Tensor(metadata.name, metadata.shape, metadata.parameters, data);
  }

  private record Metadata(
      String name, TensorType type, List<Long> shape, Map<String, Object> parameters) {}

  private static Metadata metadata(WireReader in) throws IOException {
    String name = null;
    TensorType type = null;
    var shape = new ArrayList<Long>();
    Map<String, Object> parameters = Map.of();
    in.beginMap();
    for (int key = in.nextKey(MetadataField.KEYS);
        key != Keys.END;
        key = in.nextKey(MetadataField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case MetadataField.NAME -> name = in.string();
          case MetadataField.DATA_TYPE -> type = type(in);
          case MetadataField.SHAPE -> readShape(in, shape);
          case MetadataField.PARAMETERS -> parameters = TensorParameters.read(in);
          default -> in.skip();
        }
      }
    }
    if (name == null || type == null) {
      throw new IOException((name == null ? "name" : "data_type") + " of a tensor is missing");
    }
    return new Metadata(name, type, shape, parameters);
  }

  private static void readShape(WireReader in, List<Long> shape) throws IOException {
    in.beginArray();
    while (in.nextElement()) {
      if (shape.size() == MAX_DIMENSIONS) {
        throw new IOException("a shape has more than " + MAX_DIMENSIONS + " dimensions");
      }
      shape.add(in.integer());
    }
  }

  private static TensorType type(WireReader in) throws IOException {
    var name = in.string();
    var type = TensorType.ofWorker(name);
    if (type == null) {
      throw new IOException("there is no data_type of that name");
    }
    return type;
  }

  private static TensorData data(WireReader in, ByteBuffer body, PayloadFormat format)
      throws IOException {
    TensorType type = null;
    TensorData data = null;
    ByteBuffer unread = null; // values that came before their type
    in.beginMap();
    for (int key = in.nextKey(DataField.KEYS); key != Keys.END; key = in.nextKey(DataField.KEYS)) {
      switch (key) {
        case DataField.DATA_TYPE -> type = type(in);
        case DataField.VALUES -> {
          if (type == null) {
            int begin = in.position();
            in.skip();
            unread = body.slice(body.position() + begin, in.endOfSkipped() - begin);
          } else {
            data = values(in, type);
          }
        }
        default -> in.skip();
      }
    }
    if (data == null && type != null && unread != null) {
      data = values(WireReader.of(unread, format), type);
    }
    return required(data);
  }

  private static TensorData required(@Nullable TensorData data) throws IOException {
    if (data == null) {
      throw new IOException("the data of a tensor have no values, or no data_type");
    }
    return data;
  }

  private static TensorData values(WireReader in, TensorType type) throws IOException {
    var bytes = new TensorBytes(type);
    in.beginArray();
    while (in.nextElement()) {
      switch (type) {
        case BOOL -> bytes.add(in.bool() ? 1 : 0);
        case INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32 -> bytes.add(whole(in, type));
        case FP16, BF16 -> bytes.add(whole(in, TensorType.UINT16));
        case UINT64 -> bytes.add(in.unsigned());
        case FP32 -> bytes.add(Float.floatToRawIntBits((float) in.number()));
        case FP64 -> bytes.add(Double.doubleToRawLongBits(in.number()));
        case BYTES -> bytes.add(in.bytes());
      }
    }
    return bytes.data();
  }

  private static long whole(WireReader in, TensorType type) throws IOException {
    long value = in.integer();
    if (!type.holds(value)) {
      throw new IOException("%d is no value of %s".formatted(value, type));
    }
    return value;
  }
}
