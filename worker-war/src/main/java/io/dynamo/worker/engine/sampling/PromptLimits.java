package io.dynamo.worker.engine.sampling;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;

/**
 * Refuses requests that can never be served, and decides how long an answer may get.
 *
 * @param contextLength tokens that one sequence can have at most
 * @param vocabulary number of ids that the model knows, counted from 0
 * @param reason where the length comes from, for the error message
 */
public record PromptLimits(int contextLength, int vocabulary, String reason) {
  private static final int MOST_ALTERNATIVES = 20; // the API has room for no more

  /**
   * Returns the maximum number of tokens to generate.
   *
   * @throws InvalidRequestException when the request can never be served
   */
  public int budget(GenerateRequest request) {
    requireKnown(request.tokenIds());
    requireOptions(request);
    int prompt = request.tokenIds().length;
    var asked = request.stop().maxTokens();
    if (asked != null && asked < 0) {
      throw new InvalidRequestException("max_tokens " + asked + " is negative");
    }
    // a migration after the last token asks for a budget of 0: it gets the end, nothing else
    int least = asked != null ? asked : 1;
    if ((long) prompt + least > contextLength) {
      throw new InvalidRequestException(
          "%d prompt tokens and %d to generate exceed the %d tokens of a sequence: %s"
              .formatted(prompt, least, contextLength, reason));
    }
    return asked != null ? asked : contextLength - prompt;
  }

  private void requireKnown(int[] tokens) {
    if (tokens.length == 0) {
      throw new InvalidRequestException("the prompt has no tokens");
    }
    for (int token : tokens) {
      if (token < 0 || token >= vocabulary) {
        throw new InvalidRequestException(
            "token id %s is not in the model's vocabulary of %d"
                .formatted(Integer.toUnsignedString(token), vocabulary));
      }
    }
  }

  private static void requireOptions(GenerateRequest request) {
    var choices = request.sampling().n();
    if (choices != null && choices != 1) {
      throw new InvalidRequestException(
          "n is %d; this engine makes one choice per request".formatted(choices));
    }
    var alternatives = request.output().logprobs();
    if (alternatives != null && (alternatives < 0 || alternatives > MOST_ALTERNATIVES)) {
      throw new InvalidRequestException(
          "logprobs %d is not within 0 to %d".formatted(alternatives, MOST_ALTERNATIVES));
    }
    if (request.output().promptLogprobs() != null) {
      throw new InvalidRequestException(
          "this engine tells no log probabilities of prompts; leave out prompt_logprobs, and"
              + " logprobs beside echo");
    }
  }
}
