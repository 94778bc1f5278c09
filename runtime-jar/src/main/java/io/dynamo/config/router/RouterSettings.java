package io.dynamo.config.router;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings by which requests are routed to a worker. Keys: {@code dynamo.router.*}.
 *
 * @param minInitialWorkers workers that must be present before the first request is placed
 * @param cudaToCpuRatio requests that a worker with an accelerator gets for one of a worker without
 * @param localPrefill when a decode worker computes a prompt itself
 */
public record RouterSettings(
    Mode mode,
    Costs costs,
    Tracking tracking,
    Indexing indexing,
    Queueing queueing,
    Busy busy,
    Sessions sessions,
    Explaining explaining,
    int minInitialWorkers,
    int cudaToCpuRatio,
    LocalPrefill localPrefill) {
  /** Dynamo's default. */
  public static final int CUDA_TO_CPU_RATIO = 8;

  /** Dynamo's router modes. */
  public enum Mode {
    ROUND_ROBIN,
    RANDOM,
    POWER_OF_TWO,
    LEAST_LOADED,
    DIRECT,
    DEVICE_AWARE_WEIGHTED,
    KV
  }

  /** The rule for choosing among ranks with the same cost. */
  public enum TieBreak {
    LOAD,
    RANDOM
  }

  /** The rule for comparing ranks in mode kv. */
  public enum Policy {
    COST,
    TWO_TIER
  }

  /** The order in which requests leave the queue. */
  public enum QueuePolicy {
    FCFS,
    LCFS,
    WSPT
  }

  /** The treatment of a session whose rank cannot take its next request. */
  public enum SessionMode {
    HARD,
    SOFT
  }

  enum SharedCache {
    NONE,
    HICACHE
  }

  enum PrefillModel {
    NONE,
    AIS,
    AIC
  }

  enum TrackingHash {
    PUBLIC_XXH3_V1,
    KEYED_XXH3_V1
  }

  /** The rule for expiring decisions when no events report the cache contents. */
  public enum CachePolicy {
    TTL,
    LRU
  }

  /**
   * The weights of a rank's cost, in KV blocks.
   *
   * @param overlapScoreCredit blocks of prefill that a block cached on the device is worth
   * @param creditDecay how fast the credit decreases with waiting prefill
   * @param prefillLoadScale weight of a block of prefill
   * @param activeRequestWeight weight of an active request
   * @param hostWeight worth of a block in host memory
   * @param diskWeight worth of a block in a lower tier
   * @param temperature 0 takes the cheapest rank; above, ranks are drawn by cost
   */
  public record Costs(
      double overlapScoreCredit,
      double creditDecay,
      double prefillLoadScale,
      double activeRequestWeight,
      double hostWeight,
      double diskWeight,
      double temperature,
      TieBreak tieBreak,
      Policy policy) {
    /** Dynamo's defaults, except for the tie-break. */
    public static final Costs STANDARD =
        new Costs(1, 0, 1, 0, 0.75, 0.25, 0, TieBreak.LOAD, Policy.COST);
  }

  /**
   * The kinds of load that are counted.
   *
   * @param expiry of bookings that were never given back
   * @param key secret under which active blocks are reported to other routers; null reports them
   *     openly
   */
  public record Tracking(
      boolean activeBlocks,
      boolean outputBlocks,
      boolean assumeKvReuse,
      boolean prefillTokens,
      boolean replicaSync,
      Duration expiry,
      @Nullable KeyFile key) {
    /** Creates settings under which blocks are reported openly. */
    public Tracking(
        boolean activeBlocks,
        boolean outputBlocks,
        boolean assumeKvReuse,
        boolean prefillTokens,
        boolean replicaSync,
        Duration expiry) {
      this(activeBlocks, outputBlocks, assumeKvReuse, prefillTokens, replicaSync, expiry, null);
    }

    /** Dynamo's defaults. */
    public static final Tracking STANDARD =
        new Tracking(true, false, true, true, false, Duration.ofMinutes(5));
  }

  /**
   * A secret shared by routers.
   *
   * @param file contains 32 bytes
   * @param id identifies the secret
   */
  public record KeyFile(Path file, String id) {}

  /** The router whose index is queried for cached prefixes. */
  public enum IndexSharing {
    /** The router's own index, for itself only. */
    NONE,
    /** The router's own index, which also answers other routers. */
    SERVE,
    /** Another router's index, which is queried for each prompt. */
    ASK
  }

  /**
   * The source of information about cached blocks.
   *
   * @param kvEvents whether it is the workers' events; otherwise the router's own decisions
   * @param ttl of a decision, without events
   * @param predictedTtl of a decision in addition to events; null is none
   * @param policy how decisions expire, without events
   * @param sharing with events
   * @param sharedCache a cache that all workers can fetch from
   */
  public record Indexing(
      boolean kvEvents,
      Duration ttl,
      @Nullable Duration predictedTtl,
      CachePolicy policy,
      IndexSharing sharing,
      SharedCaching sharedCache) {
    /** Creates settings without a shared cache. */
    public Indexing(
        boolean kvEvents,
        Duration ttl,
        @Nullable Duration predictedTtl,
        CachePolicy policy,
        IndexSharing sharing) {
      this(kvEvents, ttl, predictedTtl, policy, sharing, SharedCaching.NONE);
    }

    /** Creates settings with an own index, in which decisions expire by time. */
    public Indexing(boolean kvEvents, Duration ttl, @Nullable Duration predictedTtl) {
      this(kvEvents, ttl, predictedTtl, CachePolicy.TTL, IndexSharing.NONE);
    }

    /** Dynamo's defaults. */
    public static final Indexing STANDARD = new Indexing(true, Duration.ofMinutes(2), null);

    public Indexing with(SharedCaching other) {
      return new Indexing(kvEvents, ttl, predictedTtl, policy, sharing, other);
    }
  }

  /**
   * A cache that all workers of an endpoint share, besides their own.
   *
   * @param isOn whether there is one: SGLang's HiCache in a store of Mooncake
   * @param multiplier worth of a block in it, relative to 1 on the device
   * @param events address where the store publishes its contents; null takes it from the workers'
   *     cards
   */
  public record SharedCaching(boolean isOn, double multiplier, @Nullable String events) {
    /** Dynamo's worth of a block in such a cache. */
    public static final double MULTIPLIER = 0.5;

    public static final SharedCaching NONE = new SharedCaching(false, 0, null);
  }

  /**
   * When and how long requests wait for a rank.
   *
   * @param threshold batches of prefill that every rank must have ahead; infinite is never
   * @param overlapRefresh zero is never
   * @param policies a file with classes of requests; null is one class by threshold and policy
   * @param unknownBatchTokens tokens per pass of a rank whose card does not state them
   */
  public record Queueing(
      double threshold,
      QueuePolicy policy,
      int capacity,
      Duration timeout,
      Duration overlapRefresh,
      @Nullable Path policies,
      int unknownBatchTokens) {
    /** The number of tokens that common engines take in one batch. */
    public static final int BATCH_TOKENS = 8192;

    /** Creates settings with a single class. */
    public Queueing(
        double threshold,
        QueuePolicy policy,
        int capacity,
        Duration timeout,
        Duration overlapRefresh) {
      this(threshold, policy, capacity, timeout, overlapRefresh, null, BATCH_TOKENS);
    }

    /** On by default, unlike in Dynamo. */
    public static final Queueing STANDARD =
        new Queueing(4, QueuePolicy.FCFS, 1024, Duration.ofSeconds(30), Duration.ofSeconds(10));
  }

  /**
   * The load above which a worker gets no further requests; null means never.
   *
   * @param decodeBlocks share of its KV blocks
   * @param prefillTokens of all prompts without a first token
   * @param prefillTokensFraction the same in batches of the worker
   */
  public record Busy(
      @Nullable Double decodeBlocks,
      @Nullable Long prefillTokens,
      @Nullable Double prefillTokensFraction) {
    /** Never, as in Dynamo. */
    public static final Busy STANDARD = new Busy(null, null, null);
  }

  /**
   * Session affinity: requests of one session go to one rank.
   *
   * @param ttl of an idle session; null turns affinity off
   */
  public record Sessions(@Nullable Duration ttl, SessionMode mode) {
    /** Off, as in Dynamo. */
    public static final Sessions STANDARD = new Sessions(null, SessionMode.HARD);
  }

  /**
   * The record of routing decisions.
   *
   * @param capacity decisions that are kept
   * @param remote whether other machines may query them
   */
  public record Explaining(int capacity, boolean remote) {
    public static final Explaining STANDARD = new Explaining(256, false);
  }

  /**
   * The rule by which a decode worker computes a prompt itself although a prefill worker is live.
   */
  public enum LocalPrefillPolicy {
    NEVER,
    /** Little of the prompt is left to compute. */
    ISL_BOUNDING,
    /** The prefill worker is busy. */
    PREFILL_LOAD,
    /** Either of the two. */
    ISL_OR_LOAD
  }

  /**
   * The prompts that decode workers compute themselves: Dynamo's conditional disaggregation.
   *
   * @param maxTokens of the prompt that the decode worker has not cached must be fewer
   * @param maxRatio their share of the prompt must be lower
   * @param prefillBusy batches of prefill above which a prefill worker is busy; infinite is never
   * @param decodeBusy share of its KV blocks, this request's included, above which a decode worker
   *     computes no prompt; null is no bound
   */
  public record LocalPrefill(
      LocalPrefillPolicy policy,
      int maxTokens,
      double maxRatio,
      double prefillBusy,
      @Nullable Double decodeBusy) {
    /** Every prompt goes to a prefill worker, as in Dynamo by default. */
    public static final LocalPrefill NEVER =
        new LocalPrefill(LocalPrefillPolicy.NEVER, 2048, 0.7, Queueing.STANDARD.threshold(), null);
  }

  /** Returns settings with this mode and defaults otherwise. */
  public static RouterSettings of(Mode mode) {
    return new RouterSettings(
        mode,
        Costs.STANDARD,
        Tracking.STANDARD,
        Indexing.STANDARD,
        Queueing.STANDARD,
        Busy.STANDARD,
        Sessions.STANDARD,
        Explaining.STANDARD,
        0,
        CUDA_TO_CPU_RATIO,
        LocalPrefill.NEVER);
  }

  public RouterSettings with(Costs other) {
    return new RouterSettings(
        mode,
        other,
        tracking,
        indexing,
        queueing,
        busy,
        sessions,
        explaining,
        minInitialWorkers,
        cudaToCpuRatio,
        localPrefill);
  }

  public RouterSettings with(Tracking other) {
    return new RouterSettings(
        mode,
        costs,
        other,
        indexing,
        queueing,
        busy,
        sessions,
        explaining,
        minInitialWorkers,
        cudaToCpuRatio,
        localPrefill);
  }

  public RouterSettings with(Indexing other) {
    return new RouterSettings(
        mode,
        costs,
        tracking,
        other,
        queueing,
        busy,
        sessions,
        explaining,
        minInitialWorkers,
        cudaToCpuRatio,
        localPrefill);
  }

  public RouterSettings with(Queueing other) {
    return new RouterSettings(
        mode,
        costs,
        tracking,
        indexing,
        other,
        busy,
        sessions,
        explaining,
        minInitialWorkers,
        cudaToCpuRatio,
        localPrefill);
  }

  public RouterSettings with(Busy other) {
    return new RouterSettings(
        mode,
        costs,
        tracking,
        indexing,
        queueing,
        other,
        sessions,
        explaining,
        minInitialWorkers,
        cudaToCpuRatio,
        localPrefill);
  }

  public RouterSettings with(Sessions other) {
    return new RouterSettings(
        mode,
        costs,
        tracking,
        indexing,
        queueing,
        busy,
        other,
        explaining,
        minInitialWorkers,
        cudaToCpuRatio,
        localPrefill);
  }

  public RouterSettings with(LocalPrefill other) {
    return new RouterSettings(
        mode,
        costs,
        tracking,
        indexing,
        queueing,
        busy,
        sessions,
        explaining,
        minInitialWorkers,
        cudaToCpuRatio,
        other);
  }
}
