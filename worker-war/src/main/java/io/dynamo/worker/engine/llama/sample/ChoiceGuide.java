package io.dynamo.worker.engine.llama.sample;

import io.dynamo.error.InvalidRequestException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Keeps a text to one of some choices. Used by the rank's thread only. The choices that are left
 * share the bytes written so far; a token is allowed when one of them goes on with its bytes.
 */
public final class ChoiceGuide {
  /**
   * A text that may be written.
   *
   * @param finishable for each place, whether tokens can write the rest
   */
  private record Choice(byte[] text, boolean[] finishable) {}

  private final TokenTrie tokens;
  private List<Choice> left;
  private int written; // bytes

  /**
   * @throws InvalidRequestException when a choice is empty or the vocabulary cannot write it
   */
  public ChoiceGuide(TokenTrie tokens, List<String> choices) {
    this.tokens = tokens;
    this.left = new ArrayList<>(choices.size());
    for (var choice : choices) {
      var text = choice.getBytes(StandardCharsets.UTF_8);
      var finishable = tokens.finishable(text);
      if (text.length == 0 || !finishable[0]) {
        throw new InvalidRequestException(
            "a guided choice is empty, or has characters that the model has no token for");
      }
      left.add(new Choice(text, finishable));
    }
  }

  /** Forbids every token that leads away from the choices. */
  void restrict(float[] logits, int at, int vocabulary, int[] ends) {
    Set<Integer> allowed = new HashSet<>();
    for (var choice : left) {
      if (choice.text.length == written) {
        for (int end : ends) {
          allowed.add(end);
        }
      } else {
        tokens.collect(choice.text, written, choice.finishable, allowed);
      }
    }
    for (int id = 0; id < vocabulary; id++) {
      if (!allowed.contains(id)) {
        logits[at + id] = Float.NEGATIVE_INFINITY;
      }
    }
  }

  void accept(int token) {
    int from = written;
    int length = tokens.length(token);
    if (length > 0) {
      left = left.stream().filter(choice -> tokens.matches(token, choice.text, from)).toList();
      written += length;
    }
  }

  /** Whether a choice is written and none goes on. */
  boolean isComplete() {
    return left.stream().allMatch(choice -> choice.text.length == written);
  }
}
