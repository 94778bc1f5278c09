package io.dynamo.router.select;

import io.dynamo.config.RouterSettings;
import io.dynamo.router.load.RankLoads;

/**
 * What it costs to serve a prompt on each rank, in KV blocks; lower is better. Dynamo's cost:
 *
 * <pre>
 * prefill  = (prompt tokens booked and not out + this prompt's tokens) / block, 0 when not tracked
 * decay    = 1 / (1 + d · (booked prefill − least booked prefill) / this prompt, in blocks)
 * credit   = c · decay · device + host weight · host + disk weight · (disk and farther)
 * decode   = blocks active there + blocks of this prompt that are not
 * cost     = scale · max(0, prefill − credit) + decode + w · requests
 * </pre>
 *
 * <p>Where workers only decode and prompts are not tracked, what is cached lessens the blocks: cost
 * = max(0, decode − credit) + w · requests.
 */
public record CostModel(RouterSettings.Costs weights) {
  /**
   * What the cost needs to know of the prompt.
   *
   * @param tracked whether it counts as work ahead
   * @param decodeOnly whether the workers only decode
   */
  public record Prompt(int tokens, int blockTokens, boolean tracked, boolean decodeOnly) {
    /** A prompt that counts as work ahead. */
    public Prompt(int tokens, int blockTokens) {
      this(tokens, blockTokens, true, false);
    }
  }

  /**
   * Leading blocks of the prompt that each rank holds, one array element per rank; lower tiers
   * count what they have beyond the tiers above.
   */
  public record Overlaps(int[] device, int[] host, int[] disk) {
    /** Nothing is known below the device. */
    public Overlaps(int[] device) {
      this(device, new int[device.length], new int[device.length]);
    }
  }

  /** The terms of the cost, one array element per rank. */
  public record Terms(double[] prefill, double[] credit, double[] decode, double[] cost) {
    Terms(int size) {
      this(new double[size], new double[size], new double[size], new double[size]);
    }
  }

  /** Weighs all ranks against each other. */
  public Terms weigh(Prompt prompt, Overlaps overlaps, RankLoads loads) {
    int n = loads.size();
    var terms = new Terms(n);
    boolean decays = prompt.tracked() && weights.creditDecay() > 0;
    long least = decays ? least(loads.prefillTokens()) : 0;
    double block = prompt.blockTokens();
    double promptBlocks = Math.max(1, Math.ceilDiv(prompt.tokens(), prompt.blockTokens()));
    for (int i = 0; i < n; i++) {
      double decay =
          decays
              ? 1
                  / (1
                      + weights.creditDecay()
                          * ((loads.prefillTokens()[i] - least) / block)
                          / promptBlocks)
              : 1;
      double credit =
          weights.overlapScoreCredit() * decay * overlaps.device()[i]
              + weights.hostWeight() * overlaps.host()[i]
              + weights.diskWeight() * overlaps.disk()[i];
      double prefill = prompt.tracked() ? (loads.prefillTokens()[i] + prompt.tokens()) / block : 0;
      double decode = (double) loads.blocks()[i] + loads.addedBlocks()[i];
      double request = weights.activeRequestWeight() * loads.requests()[i];
      terms.prefill[i] = prefill;
      terms.credit[i] = credit;
      terms.decode[i] = decode;
      terms.cost[i] =
          prompt.decodeOnly() && !prompt.tracked() && weights.overlapScoreCredit() > 0
              ? Math.max(0, decode - credit) + request
              : weights.prefillLoadScale() * Math.max(0, prefill - credit) + decode + request;
    }
    return terms;
  }

  private static long least(long[] tokens) {
    long least = Long.MAX_VALUE;
    for (long it : tokens) {
      least = Math.min(least, it);
    }
    return least;
  }

  /** Blocks that rank {@code i} need not compute, tiers by their worth. */
  public double effectiveOverlap(Overlaps overlaps, int i) {
    return overlaps.device()[i]
        + weights.hostWeight() * overlaps.host()[i]
        + weights.diskWeight() * overlaps.disk()[i];
  }

  /** Prompt tokens left to prefill on rank {@code i}; 0 when prompts are not tracked. */
  public long tokensToPrefill(Prompt prompt, Overlaps overlaps, int i) {
    if (!prompt.tracked()) {
      return 0;
    }
    long cached = Math.round(effectiveOverlap(overlaps, i) * prompt.blockTokens());
    return Math.max(0, prompt.tokens() - cached);
  }
}
