package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.kserve.InferMessage;
import io.dynamo.frontend.kserve.InferRequest;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.kserve.ProtoBuffer;
import io.dynamo.frontend.kserve.TensorMessage;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.tensor.TensorResponse;

/** Writes tensors as the protobuf messages of KServe's gRPC service. */
final class TensorMessages implements TensorFormat {
  private static final int COPIES = 3; // the message, its frame, what is sent

  private final String id;
  private final String model;
  private final boolean raw;
  private final boolean marksEnd;
  private final WantedTensors wanted;
  private final boolean streamed;

  /**
   * @param streamed whether answers are those of a stream of requests
   */
  TensorMessages(InferRequest request, String model, boolean streamed) {
    this.id = request.id();
    this.model = model;
    this.raw = request.raw();
    this.marksEnd = Boolean.TRUE.equals(request.parameters().get(InferRequest.MARK_END));
    this.wanted = WantedTensors.of(request);
    this.streamed = streamed;
  }

  @Override
  public long writtenBytes(TensorResponse response) {
    long bytes = 0;
    for (var tensor : response.tensors()) {
      bytes += tensor.data().bytes().remaining();
    }
    return COPIES * bytes;
  }

  @Override
  public byte[] whole(TensorResponse response) {
    return message(response).toByteArray();
  }

  @Override
  public void part(ByteText frames, TensorResponse response) {
    InferMessage.frame(message(response), frames);
  }

  private ProtoBuffer message(TensorResponse response) {
    var tensors = wanted.of(response.tensors());
    var message = new ProtoBuffer(256);
    int wrapper = streamed ? message.open(InferMessage.STREAMED_RESPONSE) : 0;
    InferMessage.head(message, model, NamedModel.VERSION, id);
    TensorMessage.parameters(message, response.parameters());
    TensorMessage.outputs(message, tensors, raw);
    if (streamed) {
      message.close(wrapper);
    }
    return message;
  }

  @Override
  public void end(ByteText frames) {
    if (marksEnd) {
      var message = new ProtoBuffer(64);
      int wrapper = message.open(InferMessage.STREAMED_RESPONSE);
      InferMessage.head(message, model, NamedModel.VERSION, id);
      InferMessage.parameter(message, "triton_final_response", true);
      message.close(wrapper);
      InferMessage.frame(message, frames);
    }
  }

  @Override
  public void failure(ByteText frames, ApiError error) {
    var message = new ProtoBuffer(64);
    InferMessage.streamedError(message, error.message());
    InferMessage.frame(message, frames);
  }
}
