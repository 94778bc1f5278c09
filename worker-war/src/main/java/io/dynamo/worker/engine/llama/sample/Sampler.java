package io.dynamo.worker.engine.llama.sample;

import io.dynamo.inference.Logprobs;
import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Draws the tokens of one generation. Used by the rank's thread only.
 *
 * <p>The steps, in order: tokens that a guide forbids and, before the minimum length, the end
 * tokens; bias; penalties; temperature; min-p; top-k; top-p; the draw. Log probabilities are those
 * of the model, before all these steps.
 */
public final class Sampler {
  private final SamplingPlan plan;
  private final int vocabulary;
  private final int alternatives; // -1 for no log probabilities
  private final int[] ends; // forbidden before the minimum length
  private final @Nullable ChoiceGuide guide;
  private final @Nullable TextSoFar text;
  private final Scratch scratch;
  private double cumulative;
  private @Nullable Logprobs logprobs; // those of the latest token

  /** Scratch arrays that the generations of one rank share in turn. */
  public static final class Scratch {
    private final TokenCandidates candidates;

    public Scratch(int vocabulary) {
      this.candidates = new TokenCandidates(vocabulary);
    }
  }

  /**
   * @param generated how many of the prompt's last tokens are text that was generated elsewhere
   * @param alternatives how many likely tokens come with log probabilities; null for no log
   *     probabilities
   * @param ends ids that end the text
   */
  public Sampler(
      SamplingPlan plan,
      int vocabulary,
      int[] prompt,
      int generated,
      @Nullable Integer alternatives,
      int[] ends,
      @Nullable ChoiceGuide guide,
      Scratch scratch) {
    this.plan = plan;
    this.vocabulary = vocabulary;
    this.alternatives = alternatives == null ? -1 : alternatives;
    this.ends = ends;
    this.guide = guide;
    this.scratch = scratch;
    this.text = plan.hasPenalties() ? new TextSoFar(vocabulary) : null;
    if (text != null) {
      int before = prompt.length - generated;
      for (int i = 0; i < prompt.length; i++) {
        if (i < before) {
          text.prompt(prompt[i]);
        } else {
          text.generated(prompt[i]);
        }
      }
    }
  }

  /**
   * Draws the token at {@code position} of the sequence.
   *
   * @param logits changed by the call
   * @param mayEnd whether the minimum length is reached
   * @throws io.dynamo.error.InvalidRequestException when the options leave no token to draw
   */
  public int next(float[] logits, int at, int position, boolean mayEnd) {
    var model =
        alternatives < 0 ? null : new LogProbabilities(logits, at, vocabulary, alternatives);
    if (guide != null) {
      guide.restrict(logits, at, vocabulary, ends);
    } else if (!mayEnd) {
      for (int end : ends) {
        logits[at + end] = Float.NEGATIVE_INFINITY;
      }
    }
    plan.bias().forEach((id, bias) -> logits[at + id] += bias);
    if (text != null) {
      text.penalize(plan, logits, at);
    }
    int token =
        plan.temperature() == 0f
            ? likeliest(logits, at)
            : scratch.candidates.draw(plan, logits, at, PositionalRandom.at(plan.seed(), position));
    if (text != null) {
      text.generated(token);
    }
    if (guide != null) {
      guide.accept(token);
    }
    logprobs = model == null ? null : logprobs(model, token);
    return token;
  }

  private int likeliest(float[] logits, int at) {
    int best = 0;
    for (int id = 1; id < vocabulary; id++) {
      if (logits[at + id] > logits[at + best]) {
        best = id;
      }
    }
    if (logits[at + best] == Float.NEGATIVE_INFINITY) {
      throw TokenCandidates.nothingLeft();
    }
    return best;
  }

  private Logprobs logprobs(LogProbabilities model, int token) {
    cumulative += model.of(token);
    return new Logprobs(cumulative, new double[] {model.of(token)}, List.of(model.top()));
  }

  /** Returns the log probabilities of the latest token; null when they were not requested. */
  public @Nullable Logprobs logprobs() {
    return logprobs;
  }

  /** Whether a guided text is complete and can only end now. */
  public boolean isComplete() {
    return guide != null && guide.isComplete();
  }
}
