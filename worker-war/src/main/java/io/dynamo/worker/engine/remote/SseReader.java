package io.dynamo.worker.engine.remote;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * Reads an answer that is a stream of server-sent events with one JSON object each, up to {@code
 * [DONE]}; a whole answer is such an object without the stream. For one thread.
 */
public abstract class SseReader implements Dialect.Reader {
  @Override
  public final @Nullable Chunk read(byte[] line) {
    var data = SseLine.data(line);
    if (data == null) {
      return null;
    }
    return SseLine.isEnd(data) ? Chunk.END : readMessage(Json.readObject(data));
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
