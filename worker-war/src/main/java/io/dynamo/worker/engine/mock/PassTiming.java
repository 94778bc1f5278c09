package io.dynamo.worker.engine.mock;

import java.time.Duration;

/**
 * Models how long a simulated pass takes: its prefill and its decode are added. In milliseconds.
 */
public sealed interface PassTiming {
  /**
   * Returns the time that a pass spends on prompts.
   *
   * @param requests number of requests with prompt tokens computed in the pass; above 0
   * @param prompt prompt tokens up to the end of the pass, summed over the requests
   * @param before how many of those were computed or cached before the pass
   */
  double prefillMillis(int requests, long prompt, long before);

  /**
   * Returns the time that a pass spends on decoding.
   *
   * @param context tokens of all sequences that decode, summed
   * @param capacity tokens that the rank's blocks hold
   */
  double decodeMillis(long context, long capacity);

  /** A time per prompt token, and a fixed time for each decode step. */
  record Linear(Duration perPromptToken, Duration step) implements PassTiming {
    @Override
    public double prefillMillis(int requests, long prompt, long before) {
      return (prompt - before) * perPromptToken.toNanos() / 1e6;
    }

    @Override
    public double decodeMillis(long context, long capacity) {
      return step.toNanos() / 1e6;
    }
  }

  /** The same duration for each pass, independent of its work. */
  record Fixed(double prefill, double decode) implements PassTiming {
    @Override
    public double prefillMillis(int requests, long prompt, long before) {
      return prefill;
    }

    @Override
    public double decodeMillis(long context, long capacity) {
      return decode;
    }
  }

  /** The polynomials of Dynamo's mocker, fitted to a large GPU. */
  record Polynomial() implements PassTiming {
    @Override
    public double prefillMillis(int requests, long prompt, long before) {
      double tokens = (double) requests * (prompt / requests - before / requests);
      return tokens == 0 ? 0 : 4.209989e-7 * tokens * tokens + 1.518344e-2 * tokens + 16.50142;
    }

    @Override
    public double decodeMillis(long context, long capacity) {
      double share = Math.min((double) context / capacity, 1);
      return Math.max(1, -25.74 * share * share + 54.01 * share + 5.74);
    }
  }
}
