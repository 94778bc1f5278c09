package io.dynamo.frontend.kserve;

import com.google.protobuf.CodedInputStream;
import io.dynamo.inference.tensor.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Reads the tensors of Triton's protobuf message {@code ModelConfig}. For one message. */
final class TritonConfig {
  private static final int NAME = 1 << 3 | 2;
  private static final int PLATFORM = 2 << 3 | 2;
  private static final int MAX_BATCH_SIZE = 4 << 3;
  private static final int INPUT = 5 << 3 | 2;
  private static final int OUTPUT = 6 << 3 | 2;
  private static final int TENSOR_NAME = 1 << 3 | 2;
  private static final int DATA_TYPE = 2 << 3;
  private static final int INPUT_DIMS = 4;
  private static final int OUTPUT_DIMS = 3;
  private static final int OPTIONAL = 8 << 3;

  private String name = "";
  private String platform = "";
  private int maxBatchSize;
  private final List<TensorSpec> inputs = new ArrayList<>();
  private final List<TensorSpec> outputs = new ArrayList<>();

  private TritonConfig() {}

  /**
   * @param model its name, where the message has none
   * @throws IOException when the message is malformed
   */
  static ModelDescription read(String model, byte[] message) throws IOException {
    var config = new TritonConfig();
    var in = CodedInputStream.newInstance(message);
    for (int tag; (tag = in.readTag()) != 0; ) {
      switch (tag) {
        case NAME -> config.name = in.readStringRequireUtf8();
        case PLATFORM -> config.platform = in.readStringRequireUtf8();
        case MAX_BATCH_SIZE -> config.maxBatchSize = in.readInt32();
        case INPUT -> tensor(in, INPUT_DIMS, config.inputs);
        case OUTPUT -> tensor(in, OUTPUT_DIMS, config.outputs);
        default -> skip(in, tag);
      }
    }
    return new ModelDescription(
        config.name.isEmpty() ? model : config.name,
        config.platform,
        config.maxBatchSize,
        config.inputs,
        config.outputs,
        ByteBuffer.wrap(message));
  }

  private static void tensor(CodedInputStream in, int dims, List<TensorSpec> into)
      throws IOException {
    if (into.size() == InferRequestReader.MAX_TENSORS) {
      throw new IOException("there are more than " + InferRequestReader.MAX_TENSORS + " tensors");
    }
    var name = "";
    TensorType type = null;
    boolean optional = false;
    var shape = new ArrayList<Long>();
    int outer = in.pushLimit(in.readRawVarint32());
    for (int tag; (tag = in.readTag()) != 0; ) {
      if (tag == TENSOR_NAME) {
        name = in.readStringRequireUtf8();
      } else if (tag == DATA_TYPE) {
        type = TensorType.ofConfig(in.readEnum());
      } else if (tag == OPTIONAL && dims == INPUT_DIMS) {
        optional = in.readBool();
      } else if (tag == (dims << 3)) {
        dimension(in, shape);
      } else if (tag == (dims << 3 | 2)) {
        int list = in.pushLimit(in.readRawVarint32());
        while (!in.isAtEnd()) {
          dimension(in, shape);
        }
        in.popLimit(list);
      } else {
        skip(in, tag);
      }
    }
    in.popLimit(outer);
    if (type == null) {
      throw new IOException("the tensor '%s' has no known type".formatted(name));
    }
    into.add(new TensorSpec(name, type, shape, optional));
  }

  private static void dimension(CodedInputStream in, List<Long> shape) throws IOException {
    if (shape.size() == InferRequestReader.MAX_DIMENSIONS) {
      throw new IOException("a tensor has more dimensions than any request may have");
    }
    shape.add(in.readInt64());
  }

  private static void skip(CodedInputStream in, int tag) throws IOException {
    if (!in.skipField(tag)) {
      throw new IOException("a group ends that did not begin");
    }
  }
}
