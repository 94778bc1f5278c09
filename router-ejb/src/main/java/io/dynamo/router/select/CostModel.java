package io.dynamo.router.select;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.router.load.RankLoads;

/**
 * Computes the cost of serving a prompt on each rank, in KV blocks; lower is better. Dynamo's cost:
 *
 * <pre>
 * prefill  = (prompt tokens booked and not out + this prompt's tokens) / block, 0 when not tracked
 * decay    = 1 / (1 + d · (booked prefill − least booked prefill) / this prompt, in blocks)
 * credit   = c · decay · device + host weight · host + disk weight · (disk and farther)
 * decode   = blocks active there + blocks of this prompt that are not
 * shared   = shared weight · blocks beyond those on the device that all workers can fetch
 * cost     = scale · max(0, prefill − credit − shared) + decode + w · requests
 * </pre>
 *
 * <p>Where workers only decode, prompts are not tracked and c is above 0, cached blocks reduce the
 * decode term instead: cost = max(0, decode − credit − shared) + w · requests.
 *
 * @param sharedWeight weight of a block in a cache that all workers share
 */
public record CostModel(RouterSettings.Costs weights, double sharedWeight) {
  /**
   * The properties of the prompt that the cost depends on.
   *
   * @param tracked whether the prompt counts as prefill load
   * @param decodeOnly whether the workers only decode
   */
  public record Prompt(int tokens, int blockTokens, boolean tracked, boolean decodeOnly) {
    /** Creates a prompt that counts as prefill load. */
    public Prompt(int tokens, int blockTokens) {
      this(tokens, blockTokens, true, false);
    }
  }

  private static final int[] NO_BLOCKS = {};
  private static final double[] NO_TERMS = {};

  /**
   * Blocks of the prompt that each rank need not compute, one array element per rank: the leading
   * blocks that it has cached, each lower tier counting only blocks beyond the tiers above, and the
   * blocks beyond its device that all workers share.
   *
   * @param shared empty where workers share nothing
   */
  public record Overlaps(int[] device, int[] host, int[] disk, int[] shared) {
    /** Creates overlaps without shared blocks. */
    public Overlaps(int[] device, int[] host, int[] disk) {
      this(device, host, disk, NO_BLOCKS);
    }

    /** Creates overlaps on the device only, without lower tiers or shared blocks. */
    public Overlaps(int[] device) {
      this(device, new int[device.length], new int[device.length]);
    }

    /** Returns the number of blocks that rank {@code i} can fetch from the shared cache. */
    public int sharedBy(int i) {
      return shared.length == 0 ? 0 : shared[i];
    }
  }

  /**
   * The terms of the cost, one array element per rank.
   *
   * @param shared empty where workers share nothing
   */
  public record Terms(
      double[] prefill, double[] credit, double[] shared, double[] decode, double[] cost) {
    Terms(int size, boolean shares) {
      this(
          new double[size],
          new double[size],
          shares ? new double[size] : NO_TERMS,
          new double[size],
          new double[size]);
    }

    /** Returns the reduction of rank {@code i}'s cost by the shared cache. */
    public double sharedBy(int i) {
      return shared.length == 0 ? 0 : shared[i];
    }
  }

  /** Computes the cost of all ranks. */
  public Terms weigh(Prompt prompt, Overlaps overlaps, RankLoads loads) {
    int n = loads.size();
    boolean shares = overlaps.shared().length > 0;
    var terms = new Terms(n, shares);
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
      double shared = shares ? sharedWeight * overlaps.shared()[i] : 0;
      double prefill = prompt.tracked() ? (loads.prefillTokens()[i] + prompt.tokens()) / block : 0;
      double decode = (double) loads.blocks()[i] + loads.addedBlocks()[i];
      double request = weights.activeRequestWeight() * loads.requests()[i];
      terms.prefill[i] = prefill;
      terms.credit[i] = credit;
      if (shares) {
        terms.shared[i] = shared;
      }
      terms.decode[i] = decode;
      terms.cost[i] =
          prompt.decodeOnly() && !prompt.tracked() && weights.overlapScoreCredit() > 0
              ? Math.max(0, decode - credit - shared) + request
              : weights.prefillLoadScale() * Math.max(0, prefill - credit - shared)
                  + decode
                  + request;
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

  /**
   * Returns the number of blocks that rank {@code i} need not compute, each lower tier multiplied
   * by its weight.
   */
  public double effectiveOverlap(Overlaps overlaps, int i) {
    return overlaps.device()[i]
        + weights.hostWeight() * overlaps.host()[i]
        + weights.diskWeight() * overlaps.disk()[i];
  }

  /**
   * Returns the prompt tokens left to prefill on rank {@code i}; 0 when prompts are not tracked.
   */
  public long tokensToPrefill(Prompt prompt, Overlaps overlaps, int i) {
    if (!prompt.tracked()) {
      return 0;
    }
    long cached = Math.round(effectiveOverlap(overlaps, i) * prompt.blockTokens());
    return Math.max(0, prompt.tokens() - cached);
  }
}
