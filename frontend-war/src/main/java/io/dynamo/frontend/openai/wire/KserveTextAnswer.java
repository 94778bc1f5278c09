package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.kserve.TextTensors;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes texts as Triton's routes {@code generate} and {@code generate_stream} have them. */
final class KserveTextAnswer implements TokenFormat {
  private final String id;
  private final String model;

  /**
   * @param id of the request; empty for none
   */
  KserveTextAnswer(String id, String model) {
    this.id = id;
    this.model = model;
  }

  @Override
  public void part(ByteText frames, Part part, Usage usage) {
    frames.ascii("data: ");
    object(frames, List.of(part));
    frames.ascii("\n\n");
  }

  @Override
  public byte[] whole(List<Part> choices, Usage usage) {
    var json = new ByteText(256);
    object(json, choices);
    return json.toByteArray();
  }

  /** Appends an object; an output of one element is that element, and a list otherwise. */
  private void object(ByteText json, List<Part> parts) {
    json.ascii("{\"model_name\":").quoted(model);
    json.ascii(",\"model_version\":\"").ascii(NamedModel.VERSION).ascii("\"");
    if (!id.isEmpty()) {
      json.ascii(",\"id\":").quoted(id);
    }
    boolean one = parts.size() == 1;
    for (var name : TextTensors.OUTPUTS) {
      json.ascii(",").quoted(name).ascii(one ? ":" : ":[");
      for (int i = 0; i < parts.size(); i++) {
        var part = parts.get(i);
        json.ascii(i == 0 ? "" : ",");
        json.quoted(name.equals(TextTensors.TEXT_OUTPUT) ? part.text() : KserveReader.finish(part));
      }
      json.ascii(one ? "" : "]");
    }
    json.ascii("}");
  }

  @Override
  public void end(ByteText frames, @Nullable Usage usage) {} // the end of the body is the end

  @Override
  public void failure(ByteText frames, ApiError error) {
    frames.ascii("data: ").append(ErrorFormat.KSERVE.body(error)).ascii("\n\n");
  }

  @Override
  public LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset) {
    throw new IllegalStateException("there is no field for log probabilities");
  }
}
