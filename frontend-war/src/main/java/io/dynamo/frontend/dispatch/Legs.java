package io.dynamo.frontend.dispatch;

import java.util.concurrent.CompletionStage;

/** Runs the legs of a generation, one after the other, until it ends. */
public interface Legs {
  /**
   * Starts a leg, and another for each that ends with {@link LegLostException}.
   *
   * @return completes when the generation has ended, exceptionally when it failed
   */
  CompletionStage<Void> run(Generation generation);

  /** Runs the first leg only: a generation that loses it fails. */
  static Legs single() {
    return Generation::startLeg;
  }
}
