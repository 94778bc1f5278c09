package io.dynamo.worker.engine.llama.sample;

import static io.dynamo.worker.engine.llama.sample.ChoiceTrie.NONE;
import static io.dynamo.worker.engine.llama.sample.ChoiceTrie.ROOT;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GuidedDecoding;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Restricts a text to one of several choices. Constructed on any thread, without building the tree
 * of the choices; all other methods run on the rank's thread, which builds it with the first token.
 * A token is allowed when it leads to a node from which tokens can write one of the choices to its
 * end.
 */
public final class ChoiceGuide {
  private final TokenTrie tokens;
  private final List<String> choices;
  private final int bytes; // of all choices together
  private final BitSet allowed = new BitSet(); // tokens; scratch
  private @Nullable Plan plan; // built with the first token
  private int node = ROOT; // after the text so far; NONE when it matches no choice

  /**
   * The tree, and the nodes that may be entered.
   *
   * @param finishable nodes from which tokens can write a choice to its end
   */
  private record Plan(ChoiceTrie tree, BitSet finishable) {}

  /**
   * @throws InvalidRequestException when there are too many choices, or one is empty
   */
  public ChoiceGuide(TokenTrie tokens, List<String> choices) {
    var fault = GuidedDecoding.fault(choices);
    if (fault != null) {
      throw new InvalidRequestException(fault);
    }
    this.tokens = tokens;
    this.choices = choices;
    this.bytes = GuidedDecoding.bytes(choices);
  }

  /**
   * Builds the tree.
   *
   * @throws InvalidRequestException when the vocabulary cannot write a choice
   */
  private Plan plan() {
    var known = plan;
    if (known != null) {
      return known;
    }
    var tree = new ChoiceTrie(choices, bytes);
    var finishable = new BitSet(tree.size());
    for (int at = tree.size() - 1; at >= 0; at--) { // children before their parents
      finishable.set(at, tree.isEnd(at) || tokens.leads(tree, at, finishable));
    }
    var reachable = new BitSet(tree.size());
    reachable.set(ROOT);
    for (int at = 0; at < tree.size(); at++) {
      if (reachable.get(at)) {
        tokens.markPlaces(tree, at, reachable);
      } else if (tree.isEnd(at)) {
        throw new InvalidRequestException(
            "a guided choice has characters that the model has no token for");
      }
    }
    var made = new Plan(tree, finishable);
    plan = made;
    return made;
  }

  /** Forbids every token that leads away from the choices. */
  void restrict(float[] logits, int at, int vocabulary, int[] ends) {
    var known = plan();
    allowed.clear();
    if (node != NONE) {
      if (known.tree.isEnd(node)) {
        for (int end : ends) {
          allowed.set(end);
        }
      }
      tokens.collect(known.tree, node, known.finishable, allowed);
    }
    for (int id = 0; id < vocabulary; id++) {
      if (!allowed.get(id)) {
        logits[at + id] = Float.NEGATIVE_INFINITY;
      }
    }
  }

  void accept(int token) {
    var text = tokens.bytes(token);
    if (text != null && node != NONE) {
      node = plan().tree.walk(node, text);
    }
  }

  /** Whether a choice is complete and no longer choice continues it. */
  boolean isComplete() {
    return node == NONE || (node != ROOT && plan().tree.firstChild(node) == NONE);
  }
}
