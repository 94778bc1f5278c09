package io.dynamo.frontend.openai.wire;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A chat completion that was asked for, checked: every value is within its bounds.
 *
 * @param maxTokens {@code max_completion_tokens}, or else {@code max_tokens}; null leaves it to the
 *     worker
 * @param topK -1 is all; null is unset
 * @param stop stop strings, at most 32
 * @param stopTokenIds unsigned 32 bits each
 * @param includeUsage whether a stream ends with a usage chunk
 * @param continuousUsage whether every chunk tells the usage so far
 * @param includeStop whether a matched stop string stays in the text
 * @param skipSpecialTokens null means yes
 * @param tools for the template only, values as JSON has them
 * @param templateArgs {@code chat_template_args} and {@code chat_template_kwargs}
 */
public record ChatRequest(
    String model,
    List<ChatMessage> messages,
    @Nullable Integer maxTokens,
    @Nullable Integer minTokens,
    @Nullable Float temperature,
    @Nullable Float topP,
    @Nullable Integer topK,
    @Nullable Float minP,
    @Nullable Float frequencyPenalty,
    @Nullable Float presencePenalty,
    @Nullable Float repetitionPenalty,
    @Nullable Long seed,
    List<String> stop,
    List<Integer> stopTokenIds,
    boolean ignoreEos,
    boolean stream,
    boolean includeUsage,
    boolean continuousUsage,
    boolean includeStop,
    @Nullable Boolean skipSpecialTokens,
    List<Map<String, Object>> tools,
    Map<String, Object> templateArgs) {
  public ChatRequest {
    messages = List.copyOf(messages);
    stop = List.copyOf(stop);
    stopTokenIds = List.copyOf(stopTokenIds);
    tools = List.copyOf(tools);
  }
}
