package io.dynamo.worker.engine;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EmbeddingRequest;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a started {@link EmbeddingEngine}.
 *
 * @param contextLength tokens that one prompt may have
 * @param vocabulary number of token ids, counted from 0
 * @param width numbers of one vector
 */
public record EmbeddingDescription(int contextLength, int vocabulary, int width) {
  /**
   * Returns the prompts of a request as they are computed: cut where the request allows that.
   *
   * @throws InvalidRequestException when the request can never be served
   */
  public List<int[]> prompts(EmbeddingRequest request) {
    if (request.prompts().isEmpty()) {
      throw new InvalidRequestException("the request has no prompts");
    }
    requireWidth(request.dimensions());
    var cutTo = request.truncatedTo();
    if (cutTo != null && cutTo < -1) {
      throw new InvalidRequestException(
          "truncate_prompt_tokens %d is below -1, which cuts to the %d tokens of the model"
              .formatted(cutTo, contextLength));
    }
    int most = cutTo == null ? Integer.MAX_VALUE : cutTo == -1 ? contextLength : cutTo;
    return request.prompts().stream().map(prompt -> checked(prompt, most)).toList();
  }

  private void requireWidth(@Nullable Integer dimensions) {
    if (dimensions != null && (dimensions < 1 || dimensions > width)) {
      throw new InvalidRequestException(
          "dimensions %d is not within 1 to %d, the length of the model's vectors"
              .formatted(dimensions, width));
    }
  }

  private int[] checked(int[] prompt, int most) {
    var kept = prompt.length > most ? Arrays.copyOf(prompt, most) : prompt;
    if (kept.length == 0) {
      throw new InvalidRequestException("a prompt has no tokens, and no vector without any");
    }
    if (kept.length > contextLength) {
      throw new InvalidRequestException(
          "a prompt has %d tokens and the model takes %d; shorten it, or set truncate_prompt_tokens"
              .formatted(kept.length, contextLength));
    }
    for (int token : kept) {
      if (token < 0 || token >= vocabulary) {
        throw new InvalidRequestException(
            "token id %s is not in the model's vocabulary of %d"
                .formatted(Integer.toUnsignedString(token), vocabulary));
      }
    }
    return kept;
  }
}
