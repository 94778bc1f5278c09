package io.dynamo.worker.engine.mock;

import io.dynamo.inference.Logprobs;
import java.util.ArrayList;
import java.util.List;

/**
 * Log probabilities of the oracle's tokens, for clients that request them: a pure function of the
 * same state, so that they do not change when a text continues on another worker. The generated
 * token is the likeliest, each alternative is e times less likely than the one before. Immutable.
 */
final class OracleLogprobs {
  private static final double STEP = 0.125;

  private final OracleTokens oracle;
  private final int alternatives;

  /**
   * @param alternatives likely tokens reported for each position, the token itself among them; 0
   *     reports only its own
   */
  OracleLogprobs(OracleTokens oracle, int alternatives) {
    this.oracle = oracle;
    this.alternatives = alternatives;
  }

  /**
   * Returns the log probabilities of one token.
   *
   * @param state the state before the token
   */
  Logprobs of(long state, int token) {
    double own = -STEP * (1 + (OracleTokens.mix(~state) >>> 61));
    var top = new ArrayList<Logprobs.Top>();
    for (int i = 0; i < Math.min(alternatives, oracle.words()); i++) {
      top.add(new Logprobs.Top(i + 1, i == 0 ? token : oracle.word(state, i), null, own - i, null));
    }
    return new Logprobs(null, new double[] {own}, List.of(top));
  }
}
