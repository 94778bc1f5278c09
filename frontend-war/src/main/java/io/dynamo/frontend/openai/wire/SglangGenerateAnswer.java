package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes answers of SGLang's {@code /generate}. Each event of a stream has the new text and tokens
 * only. What a worker of SGLang answers by itself is passed on as it is.
 */
public final class SglangGenerateAnswer implements TokenFormat {
  private final String id;

  /**
   * @param id of the request, as the client knows it
   */
  public SglangGenerateAnswer(String id) {
    this.id = id;
  }

  @Override
  public void part(ByteText frames, Part part, Usage usage) {
    frames.ascii("data: ");
    if (part.engine().get("engine_data") instanceof Map<?, ?> data
        && data.get("sglang_response") != null) {
      VllmGenerateAnswer.value(frames, data.get("sglang_response"));
    } else {
      object(frames, part, usage);
    }
    frames.ascii("\n\n");
  }

  @Override
  public void end(ByteText frames, @Nullable Usage usage) {
    ChunkFormat.done(frames);
  }

  @Override
  public void failure(ByteText frames, ApiError error) {
    error.appendFrame(frames);
    ChunkFormat.done(frames);
  }

  @Override
  public byte[] whole(List<Part> choices, Usage usage) {
    var json = new ByteText(512);
    object(json, choices.getFirst(), usage);
    return json.toByteArray();
  }

  private void object(ByteText json, Part part, Usage usage) {
    json.ascii("{\"text\":").quoted(part.text()).ascii(",\"output_ids\":[").append(part.ids());
    json.ascii("],\"meta_info\":{\"id\":").quoted(id).ascii(",\"finish_reason\":");
    finish(json, part, usage);
    json.ascii(",\"prompt_tokens\":").number(usage.promptTokens());
    json.ascii(",\"completion_tokens\":").number(usage.completionTokens());
    var cached = usage.cachedTokens();
    json.ascii(",\"cached_tokens\":").number(cached == null ? 0 : cached);
    if (part.logprobs() != null) {
      part.logprobs().appendTo(json);
    }
    json.ascii("}}");
  }

  private static void finish(ByteText json, Part part, Usage usage) {
    var finish = part.finish();
    if (finish == null) {
      json.ascii("null");
      return;
    }
    if (finish == FinishReason.LENGTH) {
      json.ascii("{\"type\":\"length\",\"length\":").number(usage.completionTokens()).ascii("}");
      return;
    }
    json.ascii("{\"type\":\"").ascii(ChunkFormat.wireName(finish)).ascii("\"");
    switch (part.stop()) {
      case null -> {}
      case StopReason.Text(var text) -> json.ascii(",\"matched\":").quoted(text);
      case StopReason.Token(var token) ->
          json.ascii(",\"matched\":").number(Integer.toUnsignedLong(token));
    }
    json.ascii("}");
  }

  @Override
  public LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset) {
    return new Rows(tokens, alternatives);
  }

  /** Rows of a log probability, a token id and no text. */
  private static final class Rows extends LogprobsText {
    private final ByteText own = new ByteText(128);
    private final ByteText others = new ByteText(128);

    Rows(Tokens tokens, int alternatives) {
      super(tokens, alternatives);
    }

    @Override
    void add(int id, double logprob, List<Logprobs.Top> top) {
      row(own, own.size() == 0, id, logprob);
      if (alternatives == 0) {
        return;
      }
      others.ascii(others.size() == 0 ? "[" : ",[");
      for (int i = 0; i < Math.min(alternatives, top.size()); i++) {
        row(others, i == 0, top.get(i).tokenId(), top.get(i).logprob());
      }
      others.ascii("]");
    }

    private static void row(ByteText to, boolean first, int id, double logprob) {
      number(to.ascii(first ? "[" : ",["), logprob);
      to.ascii(",").number(Integer.toUnsignedLong(id)).ascii(",null]");
    }

    @Override
    public boolean isEmpty() {
      return own.size() == 0;
    }

    @Override
    void appendTo(ByteText json) {
      json.ascii(",\"output_token_logprobs\":[").append(own).ascii("]");
      if (alternatives > 0) {
        json.ascii(",\"output_top_logprobs\":[").append(others).ascii("]");
      }
    }

    @Override
    public void clear() {
      own.clear();
      others.clear();
    }
  }
}
