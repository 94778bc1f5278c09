package io.dynamo.config.router;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How requests find their worker. Keys: {@code dynamo.router.*}.
 *
 * @param minInitialWorkers workers to be seen before the first request is placed
 * @param cudaToCpuRatio requests that a worker with an accelerator has for one of a worker without
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
    int cudaToCpuRatio) {
  /** Dynamo's. */
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

  /** Which rank takes a request that costs the same on several. */
  public enum TieBreak {
    LOAD,
    RANDOM
  }

  /** How ranks are compared in mode kv. */
  public enum Policy {
    COST,
    TWO_TIER
  }

  /** In which order requests leave the queue. */
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

  /** How decisions are forgotten where no events tell what is cached. */
  public enum CachePolicy {
    TTL,
    LRU
  }

  /**
   * The weights of a rank's cost, in KV blocks.
   *
   * @param overlapScoreCredit blocks of prefill that a block cached on the device is worth
   * @param creditDecay how fast the credit falls with prefill that waits
   * @param prefillLoadScale what a block of prefill counts
   * @param activeRequestWeight what an active request counts
   * @param hostWeight what a block in host memory is worth
   * @param diskWeight what a block farther away is worth
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
    /** Dynamo's, but for the tie-break. */
    public static final Costs STANDARD =
        new Costs(1, 0, 1, 0, 0.75, 0.25, 0, TieBreak.LOAD, Policy.COST);
  }

  /**
   * The kinds of load that are counted.
   *
   * @param expiry of bookings that nobody gave back
   * @param key under which active blocks are named to other routers; null names them openly
   */
  public record Tracking(
      boolean activeBlocks,
      boolean outputBlocks,
      boolean assumeKvReuse,
      boolean prefillTokens,
      boolean replicaSync,
      Duration expiry,
      @Nullable KeyFile key) {
    /** Blocks are named openly. */
    public Tracking(
        boolean activeBlocks,
        boolean outputBlocks,
        boolean assumeKvReuse,
        boolean prefillTokens,
        boolean replicaSync,
        Duration expiry) {
      this(activeBlocks, outputBlocks, assumeKvReuse, prefillTokens, replicaSync, expiry, null);
    }

    /** Dynamo's. */
    public static final Tracking STANDARD =
        new Tracking(true, false, true, true, false, Duration.ofMinutes(5));
  }

  /**
   * A secret of routers.
   *
   * @param file 32 bytes
   * @param id names the secret
   */
  public record KeyFile(Path file, String id) {}

  /** The router whose index is asked for cached prefixes. */
  public enum IndexSharing {
    /** Its own, for itself. */
    NONE,
    /** Its own, which answers others, too. */
    SERVE,
    /** Another router's, which is asked for each prompt. */
    ASK
  }

  /**
   * How it is known what is cached.
   *
   * @param kvEvents by the workers' events; otherwise by the router's own decisions
   * @param ttl of a decision, without events
   * @param predictedTtl of a decision beside events; null is none
   * @param policy how decisions are forgotten, without events
   * @param sharing with events
   * @param sharedCache what all workers can fetch from beside
   */
  public record Indexing(
      boolean kvEvents,
      Duration ttl,
      @Nullable Duration predictedTtl,
      CachePolicy policy,
      IndexSharing sharing,
      SharedCaching sharedCache) {
    /** No cache that workers share. */
    public Indexing(
        boolean kvEvents,
        Duration ttl,
        @Nullable Duration predictedTtl,
        CachePolicy policy,
        IndexSharing sharing) {
      this(kvEvents, ttl, predictedTtl, policy, sharing, SharedCaching.NONE);
    }

    /** An own index; decisions are forgotten by time. */
    public Indexing(boolean kvEvents, Duration ttl, @Nullable Duration predictedTtl) {
      this(kvEvents, ttl, predictedTtl, CachePolicy.TTL, IndexSharing.NONE);
    }

    /** Dynamo's. */
    public static final Indexing STANDARD = new Indexing(true, Duration.ofMinutes(2), null);

    public Indexing with(SharedCaching other) {
      return new Indexing(kvEvents, ttl, predictedTtl, policy, sharing, other);
    }
  }

  /**
   * A cache that all workers of an endpoint share, beside their own.
   *
   * @param isOn whether there is one: SGLang's HiCache in a store of Mooncake
   * @param multiplier what a block in it is worth, beside 1 on the device
   * @param events where the store tells what is in it; null is as the workers' cards say
   */
  public record SharedCaching(boolean isOn, double multiplier, @Nullable String events) {
    /** Dynamo's, of a block in such a cache. */
    public static final double MULTIPLIER = 0.5;

    public static final SharedCaching NONE = new SharedCaching(false, 0, null);
  }

  /**
   * When and how long requests wait for a rank.
   *
   * @param threshold batches of prefill that every rank must have ahead; infinite is never
   * @param overlapRefresh zero is never
   * @param policies a file with classes of requests; null is one class by threshold and policy
   * @param unknownBatchTokens what a rank takes in one pass whose card does not tell
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

    /** One class. */
    public Queueing(
        double threshold,
        QueuePolicy policy,
        int capacity,
        Duration timeout,
        Duration overlapRefresh) {
      this(threshold, policy, capacity, timeout, overlapRefresh, null, BATCH_TOKENS);
    }

    /** On, unlike Dynamo's. */
    public static final Queueing STANDARD =
        new Queueing(4, QueuePolicy.FCFS, 1024, Duration.ofSeconds(30), Duration.ofSeconds(10));
  }

  /**
   * Above which a worker gets no more requests; null is never.
   *
   * @param decodeBlocks share of its KV blocks
   * @param prefillTokens of all prompts without a first token
   * @param prefillTokensFraction the same in batches of the worker
   */
  public record Busy(
      @Nullable Double decodeBlocks,
      @Nullable Long prefillTokens,
      @Nullable Double prefillTokensFraction) {
    /** Never, as Dynamo. */
    public static final Busy STANDARD = new Busy(null, null, null);
  }

  /**
   * Requests of one session go to one rank.
   *
   * @param ttl of an idle session; null turns affinity off
   */
  public record Sessions(@Nullable Duration ttl, SessionMode mode) {
    /** Off, as Dynamo. */
    public static final Sessions STANDARD = new Sessions(null, SessionMode.HARD);
  }

  /**
   * @param capacity decisions that are kept
   * @param remote whether other machines may ask
   */
  public record Explaining(int capacity, boolean remote) {
    public static final Explaining STANDARD = new Explaining(256, false);
  }

  /** Everything else as it is when nothing is set. */
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
        CUDA_TO_CPU_RATIO);
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
        cudaToCpuRatio);
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
        cudaToCpuRatio);
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
        cudaToCpuRatio);
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
        cudaToCpuRatio);
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
        cudaToCpuRatio);
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
        cudaToCpuRatio);
  }
}
