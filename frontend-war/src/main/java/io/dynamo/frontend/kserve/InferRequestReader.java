package io.dynamo.frontend.kserve;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.dynamo.inference.tensor.WantedOutput;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Reads the protobuf message {@code ModelInferRequest}. Written by hand, since a generated reader
 * makes objects without a bound: some 40 bytes of heap for each byte of a hostile message. This one
 * bounds each list, and leaves contents of tensors as slices of the message.
 */
public final class InferRequestReader {
  static final int MAX_TENSORS = 1024; // inputs, and wanted outputs
  static final int MAX_PARAMETERS = 1024; // of the request, and of each tensor
  static final int MAX_DIMENSIONS = 64;
  private static final int MAX_TOTAL_PARAMETERS = 16_384;

  private int parameters; // of the whole message

  private InferRequestReader() {}

  /** The names that a message is dispatched by. */
  public record Head(String model, String id) {}

  /**
   * Reads the model and the id of a message, and nothing else of it.
   *
   * @throws io.dynamo.frontend.ApiException with 400 when it is no protobuf message
   */
  public static Head head(byte[] message) {
    return guarded(
        message,
        in -> {
          var model = "";
          var id = "";
          for (int tag; (tag = in.readTag()) != 0; ) {
            switch (tag) {
              case 1 << 3 | 2 -> model = in.readStringRequireUtf8();
              case 3 << 3 | 2 -> id = in.readStringRequireUtf8();
              default -> skip(in, tag);
            }
          }
          return new Head(model, id);
        });
  }

  /**
   * Reads a message.
   *
   * @param message of which the result keeps slices
   * @throws io.dynamo.frontend.ApiException with 400 when it is no such message, or out of bounds
   */
  public static InferRequest read(byte[] message) {
    return guarded(message, new InferRequestReader()::request);
  }

  private interface Reading<T> {
    T read(CodedInputStream in) throws IOException;
  }

  private static <T> T guarded(byte[] message, Reading<T> reading) {
    try {
      var in = CodedInputStream.newInstance(message);
      in.enableAliasing(true);
      return reading.read(in);
    } catch (IOException e) {
      throw InferRequest.refuse("the message is no ModelInferRequest: " + e.getMessage());
    }
  }

  private static void skip(CodedInputStream in, int tag) throws IOException {
    if (!in.skipField(tag)) {
      throw new IOException("a group ends that did not begin");
    }
  }

  /** Where a tensor's contents stand in the message. */
  private record Input(
      String name,
      String datatype,
      List<Long> shape,
      Map<String, Object> parameters,
      @Nullable ByteBuffer contents) {}

  private InferRequest request(CodedInputStream in) throws IOException {
    var model = "";
    var version = "";
    var id = "";
    var params = new HashMap<String, Object>();
    var inputs = new ArrayList<Input>();
    var outputs = new ArrayList<WantedOutput>();
    var raw = new ArrayList<ByteBuffer>();
    for (int tag; (tag = in.readTag()) != 0; ) {
      switch (tag) {
        case 1 << 3 | 2 -> model = in.readStringRequireUtf8();
        case 2 << 3 | 2 -> version = in.readStringRequireUtf8();
        case 3 << 3 | 2 -> id = in.readStringRequireUtf8();
        case 4 << 3 | 2 -> nested(in, entry -> parameter(entry, params));
        case 5 << 3 | 2 -> {
          requireRoom(inputs.size(), "inputs");
          nested(in, tensor -> inputs.add(input(tensor)));
        }
        case 6 << 3 | 2 -> {
          requireRoom(outputs.size(), "outputs");
          nested(in, output -> outputs.add(output(output)));
        }
        case 7 << 3 | 2 -> {
          requireRoom(raw.size(), "raw_input_contents");
          raw.add(in.readByteBuffer());
        }
        default -> skip(in, tag);
      }
    }
    if (!raw.isEmpty() && raw.size() != inputs.size()) {
      throw InferRequest.refuse(
          "`raw_input_contents` must be used for all inputs: there are %d for %d inputs"
              .formatted(raw.size(), inputs.size()));
    }
    var tensors = new ArrayList<InferTensor>(inputs.size());
    for (int i = 0; i < inputs.size(); i++) {
      tensors.add(tensor(inputs.get(i), raw.isEmpty() ? null : raw.get(i)));
    }
    return new InferRequest(model, version, id, params, tensors, outputs, !raw.isEmpty());
  }

  private static InferTensor tensor(Input input, @Nullable ByteBuffer raw) {
    if (raw != null && input.contents != null) {
      throw InferRequest.refuse(
          "'%s' has contents beside `raw_input_contents`; send one of the two"
              .formatted(InferRequest.shown(input.name)));
    }
    InferTensor.Contents contents;
    if (raw != null) {
      contents = new RawContents(raw);
    } else if (input.contents != null) {
      contents = new ProtoContents(input.contents);
    } else {
      contents = NoContents.INSTANCE;
    }
    return new InferTensor(input.name, input.datatype, input.shape, input.parameters, contents);
  }

  private static void requireRoom(int size, String what) throws IOException {
    if (size >= MAX_TENSORS) {
      throw new IOException("%s has more than %d entries".formatted(what, MAX_TENSORS));
    }
  }

  private interface Part {
    void read(CodedInputStream in) throws IOException;
  }

  private static void nested(CodedInputStream in, Part part) throws IOException {
    int outer = in.pushLimit(in.readRawVarint32());
    part.read(in);
    in.popLimit(outer);
  }

  private Input input(CodedInputStream in) throws IOException {
    var name = "";
    var datatype = "";
    var shape = new ArrayList<Long>();
    var params = new HashMap<String, Object>();
    ByteBuffer contents = null;
    for (int tag; (tag = in.readTag()) != 0; ) {
      switch (tag) {
        case 1 << 3 | 2 -> name = in.readStringRequireUtf8();
        case 2 << 3 | 2 -> datatype = in.readStringRequireUtf8();
        case 3 << 3 -> dimension(in, shape);
        case 3 << 3 | 2 ->
            nested(
                in,
                packed -> {
                  while (!packed.isAtEnd()) {
                    dimension(packed, shape);
                  }
                });
        case 4 << 3 | 2 -> nested(in, entry -> parameter(entry, params));
        case 5 << 3 | 2 -> contents = in.readByteBuffer();
        default -> skip(in, tag);
      }
    }
    return new Input(name, datatype, shape, params, contents);
  }

  private static void dimension(CodedInputStream in, List<Long> shape) throws IOException {
    if (shape.size() >= MAX_DIMENSIONS) {
      throw new IOException("a shape has more than " + MAX_DIMENSIONS + " dimensions");
    }
    shape.add(in.readInt64());
  }

  private WantedOutput output(CodedInputStream in) throws IOException {
    var name = "";
    var params = new HashMap<String, Object>();
    for (int tag; (tag = in.readTag()) != 0; ) {
      switch (tag) {
        case 1 << 3 | 2 -> name = in.readStringRequireUtf8();
        case 2 << 3 | 2 -> nested(in, entry -> parameter(entry, params));
        default -> skip(in, tag);
      }
    }
    return new WantedOutput(name, params);
  }

  private void parameter(CodedInputStream in, Map<String, Object> into) throws IOException {
    if (into.size() >= MAX_PARAMETERS || ++parameters > MAX_TOTAL_PARAMETERS) {
      throw new IOException("there are more than " + MAX_PARAMETERS + " parameters");
    }
    var name = "";
    var value = new AtomicReference<@Nullable Object>();
    for (int tag; (tag = in.readTag()) != 0; ) {
      switch (tag) {
        case 1 << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED -> name = in.readStringRequireUtf8();
        case 2 << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED ->
            nested(in, choice -> value.set(value(choice)));
        default -> skip(in, tag);
      }
    }
    var given = value.get();
    if (given == null) {
      throw InferRequest.refuse("Parameter '%s' has no value".formatted(InferRequest.shown(name)));
    }
    into.put(name, given);
  }

  private static @Nullable Object value(CodedInputStream in) throws IOException {
    Object value = null;
    for (int tag; (tag = in.readTag()) != 0; ) {
      switch (tag) {
        case 1 << 3 -> value = in.readBool();
        case 2 << 3 -> value = in.readInt64();
        case 3 << 3 | 2 -> value = in.readStringRequireUtf8();
        case 4 << 3 | 1 -> value = in.readDouble();
        case 5 << 3 -> value = unsigned(in.readUInt64());
        default -> skip(in, tag);
      }
    }
    return value;
  }

  static BigInteger unsigned(long bits) {
    return new BigInteger(Long.toUnsignedString(bits));
  }
}
