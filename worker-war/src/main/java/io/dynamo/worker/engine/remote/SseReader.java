package io.dynamo.worker.engine.remote;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.json.MessageShape;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads an answer that is a stream of server-sent events with one JSON object each, up to {@code
 * [DONE]}; a whole answer is such an object without the stream. For one thread.
 */
public abstract class SseReader implements Dialect.Reader {
  private static final MessageShape SHAPE =
      new MessageShape(
          Set.of("choices", "usage", "meta_info"),
          Set.of(
              "id",
              "created",
              "model",
              "index",
              "prompt_token_ids",
              "prompt_text",
              "prompt_tokens",
              "total_tokens",
              "completion_tokens_details",
              "system_fingerprint",
              "request_id"));

  static {
    Json.expect(
        "id",
        "object",
        "created",
        "model",
        "choices",
        "index",
        "delta",
        "role",
        "content",
        "text",
        "logprobs",
        "finish_reason",
        "stop_reason",
        "token_ids",
        "prompt_token_ids",
        "usage",
        "prompt_tokens",
        "total_tokens",
        "completion_tokens",
        "prompt_tokens_details",
        "completion_tokens_details",
        "cached_tokens",
        "system_fingerprint",
        "request_id",
        "weight_versions",
        "version",
        "start",
        "end",
        "sampling_mask",
        "routed_experts",
        "output_mode",
        "tool_calls",
        "prompt_text",
        "created_cache_tokens");
  }

  @Override
  public final @Nullable Chunk read(byte[] line) {
    int from = SseLine.dataFrom(line);
    if (from < 0) {
      return null;
    }
    int to = SseLine.end(line);
    return SseLine.isEnd(line, from, to)
        ? Chunk.END
        : readMessage(Json.readMessage(line, from, to, SHAPE));
  }

  /**
   * Reads one message.
   *
   * @throws RuntimeException that ends the generation, when the message is an error
   */
  protected abstract Chunk readMessage(JsonObject message);

  /** Reads how many tokens of the prompt were cached, where OpenAI's usage says so. */
  protected static @Nullable Integer cachedTokens(JsonObject message) {
    var usage = message.optionalObject("usage");
    var details = usage == null ? null : usage.optionalObject("prompt_tokens_details");
    return details == null ? null : details.optionalCount("cached_tokens");
  }
}
