package io.dynamo.worker.engine.llama.sample;

import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.util.BitSet;

/** The tokens that a text contains so far, for penalties. Used by one thread. */
final class TextSoFar {

  private final BitSet seen = new BitSet(); // tokens in the prompt or generated
  private final BitSet made = new BitSet();
  private final int[] counts; // occurrences of generated tokens

  TextSoFar(int vocabulary) {
    this.counts = new int[vocabulary];
  }

  void prompt(int token) {
    seen.set(token);
  }

  void generated(int token) {
    seen.set(token);
    made.set(token);
    counts[token]++;
  }

  /**
   * Lowers the logits of tokens that occurred: repetition penalty first, then frequency and
   * presence.
   */
  void penalize(SamplingPlan plan, float[] logits, int at) {
    float repetition = plan.repetitionPenalty();
    if (repetition != 1f) {
      for (int id = seen.nextSetBit(0); id >= 0; id = seen.nextSetBit(id + 1)) {
        float logit = logits[at + id];
        float penalized = logit > 0 ? logit / repetition : logit * repetition;
        if (logit
            != Float.NEGATIVE_INFINITY) { // forbidden logits stay so, all the rest stays finite
          logits[at + id] = Math.clamp(penalized, -Float.MAX_VALUE, Float.MAX_VALUE);
        }
      }
    }
    for (int id = made.nextSetBit(0); id >= 0; id = made.nextSetBit(id + 1)) {
      logits[at + id] -= plan.frequencyPenalty() * counts[id] + plan.presencePenalty();
    }
  }
}
