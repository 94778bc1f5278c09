package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.Usage;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes answers of vLLM's {@code /inference/v1/generate}; a stream has them in parts. */
public final class VllmGenerateAnswer implements TokenFormat {
  private final byte[] head;

  /**
   * @param id of the request, as the client knows it
   */
  public VllmGenerateAnswer(String id) {
    head =
        new ByteText(64).ascii("{\"request_id\":").quoted(id).ascii(",\"choices\":[").toByteArray();
  }

  @Override
  public void part(ByteText frames, Part part, Usage usage) {
    frames.ascii("data: ").append(head);
    choice(frames, part);
    tail(frames, part.engine(), null);
    frames.ascii("\n\n");
  }

  @Override
  public void end(ByteText frames, @Nullable Usage usage) {
    if (usage != null) {
      frames.ascii("data: ").append(head);
      tail(frames, PassedOn.NONE, usage);
      frames.ascii("\n\n");
    }
    ChunkFormat.done(frames);
  }

  @Override
  public void failure(ByteText frames, ApiError error) {
    error.appendFrame(frames);
    ChunkFormat.done(frames);
  }

  @Override
  public byte[] whole(List<Part> choices, Usage usage) {
    var json = new ByteText(512).append(head);
    for (int i = 0; i < choices.size(); i++) {
      json.ascii(i == 0 ? "" : ",");
      choice(json, choices.get(i));
    }
    tail(json, choices.getFirst().engine(), null);
    return json.toByteArray();
  }

  private static void choice(ByteText json, Part part) {
    json.ascii("{\"index\":").number(part.choice()).ascii(",\"token_ids\":[").append(part.ids());
    json.ascii("],\"logprobs\":");
    var logprobs = part.logprobs();
    if (logprobs == null || logprobs.isEmpty()) {
      json.ascii("null");
    } else {
      logprobs.appendTo(json);
    }
    var finish = part.finish();
    json.ascii(",\"finish_reason\":");
    json.ascii(finish == null ? "null" : "\"" + ChunkFormat.wireName(finish) + "\"");
    value(
        json.ascii(",\"routed_experts\":"), inside(part.engine(), "engine_data", "routed_experts"));
    value(json.ascii(",\"sampling_mask\":"), inside(part.engine(), "engine_data", "sampling_mask"));
    json.ascii("}");
  }

  private static void tail(ByteText json, PassedOn engine, @Nullable Usage usage) {
    value(json.ascii("],\"prompt_logprobs\":"), inside(engine, "engine_data", "prompt_logprobs"));
    value(
        json.ascii(",\"kv_transfer_params\":"),
        inside(engine, "disaggregated_params", "kv_transfer_params"));
    if (usage != null) {
      ChunkFormat.appendUsage(usage, json.ascii(",\"usage\":"));
    }
    json.ascii("}");
  }

  private static @Nullable Object inside(PassedOn engine, String field, String name) {
    return engine.get(field) instanceof Map<?, ?> map ? map.get(name) : null;
  }

  static void value(ByteText json, @Nullable Object value) {
    try {
      json.append(JsonBody.write(value));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a worker's JSON value cannot be written", e);
    }
  }

  @Override
  public LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset) {
    return new ChatLogprobs(tokens, alternatives);
  }
}
