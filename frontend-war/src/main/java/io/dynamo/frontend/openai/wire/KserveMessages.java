package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.kserve.InferMessage;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.kserve.ProtoBuffer;
import io.dynamo.frontend.kserve.TextTensors;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Usage;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes texts as the protobuf messages of KServe's gRPC service. The frames of a stream are
 * messages after their length. For one request and one thread.
 */
final class KserveMessages implements TokenFormat {
  private final KserveRequest request;
  private final String model;
  private final boolean streamed;
  private final ProtoBuffer message = new ProtoBuffer(256);

  /**
   * @param streamed whether answers are those of a stream of requests, also whole ones
   */
  KserveMessages(KserveRequest request, String model, boolean streamed) {
    this.request = request;
    this.model = model;
    this.streamed = streamed;
  }

  @Override
  public void part(ByteText frames, Part part, Usage usage) {
    message.clear();
    response(List.of(part));
    InferMessage.frame(message, frames);
  }

  @Override
  public byte[] whole(List<Part> choices, Usage usage) {
    message.clear();
    response(choices);
    return message.toByteArray();
  }

  /** Appends a response; its contents are raw where those of the request were. */
  private void response(List<Part> parts) {
    int wrapper = streamed ? message.open(InferMessage.STREAMED_RESPONSE) : 0;
    InferMessage.head(message, model, NamedModel.VERSION, request.id());
    for (var name : TextTensors.OUTPUTS) {
      if (request.outputs().contains(name)) {
        InferMessage.strings(message, name, parts, values(name), request.raw());
      }
    }
    for (var name : TextTensors.OUTPUTS) {
      if (request.raw() && request.outputs().contains(name)) {
        InferMessage.rawStrings(message, parts, values(name));
      }
    }
    if (streamed) {
      message.close(wrapper);
    }
  }

  private static Function<Part, String> values(String output) {
    return output.equals(TextTensors.TEXT_OUTPUT) ? Part::text : KserveReader::finish;
  }

  @Override
  public void silence(ByteText frames) {} // connections are probed by HTTP/2

  @Override
  public void end(ByteText frames, @Nullable Usage usage) {
    if (request.marksEnd()) {
      message.clear();
      int wrapper = message.open(InferMessage.STREAMED_RESPONSE);
      InferMessage.head(message, model, NamedModel.VERSION, request.id());
      InferMessage.parameter(message, "triton_final_response", true);
      message.close(wrapper);
      InferMessage.frame(message, frames);
    }
  }

  @Override
  public void failure(ByteText frames, ApiError error) {
    message.clear();
    InferMessage.streamedError(message, error.message());
    InferMessage.frame(message, frames);
  }

  @Override
  public LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset) {
    throw new IllegalStateException("there is no tensor for log probabilities");
  }
}
