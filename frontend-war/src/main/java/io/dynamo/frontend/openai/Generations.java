package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.wire.ChatMessage;
import io.dynamo.frontend.openai.wire.ChatRequest;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.model.ModelCardSum;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** What a worker is asked for a chat completion. */
final class Generations {
  private static final int[] NO_TOKENS = {};

  private Generations() {}

  static ChatPrompt prompt(ChatRequest chat) {
    return new ChatPrompt(
        chat.messages().stream().map(ChatMessage::forTemplate).toList(),
        chat.tools(),
        chat.templateArgs());
  }

  /**
   * @param tokenIds the prompt
   * @throws ApiException with 400 when the prompt leaves no room for an answer
   */
  static GenerateRequest of(ChatRequest chat, ServedModel model, int[] tokenIds) {
    int context = model.card().contextLength();
    if (context > 0 && tokenIds.length >= context) {
      throw new ApiException(
          new ApiError(
              400,
              ("This model's maximum context length is %d tokens, but the messages have %d;"
                      + " shorten them")
                  .formatted(context, tokenIds.length),
              "context_length_exceeded",
              "messages",
              null));
    }
    return new GenerateRequest(
        model.name(),
        tokenIds,
        stop(chat, model),
        new SamplingOptions(
                null,
                chat.temperature(),
                chat.topP(),
                chat.topK(),
                chat.minP(),
                chat.frequencyPenalty(),
                chat.presencePenalty(),
                chat.repetitionPenalty(),
                chat.seed())
            .withIncludeStop(chat.includeStop() ? Boolean.TRUE : null),
        new OutputOptions(null, chat.skipSpecialTokens()),
        eosTokenIds(chat, model),
        ModelCardSum.of(model.card()),
        List.of(),
        RoutingHints.NONE,
        Map.of());
  }

  /** As Dynamo has it, {@code ignore_eos} takes stop strings and ids away with it. */
  private static StopConditions stop(ChatRequest chat, ServedModel model) {
    return new StopConditions(
            chat.maxTokens(),
            chat.ignoreEos() ? List.of() : chat.stop(),
            chat.ignoreEos() ? List.of() : chat.stopTokenIds(),
            chat.minTokens(),
            chat.ignoreEos())
        .withHidden(Arrays.stream(eosTokenIds(chat, model)).boxed().toList());
  }

  private static int[] eosTokenIds(ChatRequest chat, ServedModel model) {
    return chat.ignoreEos() ? NO_TOKENS : model.text().eosTokenIds();
  }
}
