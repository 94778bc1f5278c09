package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.model.ModelCard;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The token limits of a model. A worker may publish a budget with the checks to make here; without
 * one, a prompt that fills the known context is refused, and the worker checks the rest.
 *
 * @param limit prompt and answer together; 0 when unknown
 * @param rejectsPrompt whether a prompt without room for an answer is refused here
 * @param rejectsTotal whether an answer that may not fit is refused here
 */
record TokenBudget(int limit, boolean rejectsPrompt, boolean rejectsTotal) {
  static TokenBudget of(ModelCard card) {
    if (card.runtimeConfig().get("runtime_data") instanceof Map<?, ?> data
        && data.get("token_budget") instanceof Map<?, ?> budget
        && budget.get("combined_limit") instanceof Number limit) {
      return new TokenBudget(
          limit.intValue(),
          Boolean.TRUE.equals(budget.get("reject_prompt_overflow")),
          Boolean.TRUE.equals(budget.get("reject_total_overflow")));
    }
    return new TokenBudget(card.contextLength(), true, false);
  }

  /**
   * The number of tokens up to which a prompt is counted; a longer one is refused without its exact
   * length. {@link Integer#MAX_VALUE} where prompts of any length go to the worker.
   */
  int countedTokens() {
    return limit > 0 && rejectsPrompt
        ? (int) Math.min(Integer.MAX_VALUE, 2L * limit)
        : Integer.MAX_VALUE;
  }

  /** Refuses a prompt of {@code least} tokens or more, which is more than is counted. */
  ApiException tooLong(long least, String field) {
    return refuse("the prompt has %d or more".formatted(least), least + 1, field);
  }

  /**
   * Refuses a request that does not fit.
   *
   * @param answer tokens at most, null when the client did not say
   * @param field of the prompt in the request
   * @throws ApiException with 400
   */
  void check(int prompt, @Nullable Integer answer, String field) {
    long total = (long) prompt + (answer == null ? 1 : answer);
    if (limit > 0 && rejectsPrompt && prompt >= limit) {
      throw refuse("the prompt has %d".formatted(prompt), total, field);
    }
    if (limit > 0 && rejectsTotal && total > limit) {
      throw refuse(
          "the prompt has %d and up to %d are asked for".formatted(prompt, total - prompt),
          total,
          field);
    }
  }

  private ApiException refuse(String what, long total, String field) {
    return new ApiException(
        new ApiError(
            400,
            "This model's maximum context length is %d tokens, but %s; shorten it"
                .formatted(limit, what),
            "context_length_exceeded",
            field,
            null,
            new ApiError.TokenLimit(limit, total)));
  }
}
