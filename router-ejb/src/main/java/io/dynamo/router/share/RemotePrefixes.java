package io.dynamo.router.share;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.router.index.CachedPrefixes;
import io.dynamo.token.BlockHashes;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Queries another router's index for each prompt. While that index does not answer, no block counts
 * as cached and load decides; it is tried again after a rest. Safe for concurrent use; waits on the
 * caller's thread, which should be virtual.
 */
public final class RemotePrefixes implements CachedPrefixes {
  /** The longest time that a request waits for an answer. */
  static final Duration PATIENCE = Duration.ofMillis(500);

  /** The time after a failed query in which no request queries the index. */
  static final Duration REST = Duration.ofSeconds(1);

  private static final System.Logger LOG = System.getLogger(RemotePrefixes.class.getName());

  private final IndexPlane plane;
  private final EndpointId workers;
  private final String model;
  private final Metrics.Counter failures;
  private final LongSupplier nanoClock;
  private final AtomicReference<@Nullable Silence> silence = new AtomicReference<>();

  /** The state in which the index does not answer, with the time of the last attempt. */
  private record Silence(long triedAtNanos) {}

  /**
   * Creates a reader of another router's index.
   *
   * @param failures counts queries without an answer
   */
  public RemotePrefixes(
      IndexPlane plane,
      EndpointId workers,
      String model,
      Metrics.Counter failures,
      LongSupplier nanoClock) {
    this.plane = plane;
    this.workers = workers;
    this.model = model;
    this.failures = failures;
    this.nanoClock = nanoClock;
  }

  @Override
  public PrefixMatches find(BlockHashes prompt) {
    if (prompt.length() == 0 || rests()) {
      return PrefixMatches.NOTHING;
    }
    try {
      var found = ask(new KvIndexQuery(model, prompt, false));
      if (silence.getAndSet(null) != null) {
        LOG.log(Level.INFO, "the index of the workers of {0} answers again", workers);
      }
      return found;
    } catch (ExecutionException | TimeoutException e) {
      failures.increment();
      if (silence.getAndSet(new Silence(nanoClock.getAsLong())) == null) {
        LOG.log(
            Level.WARNING,
            "the index of the workers of %s does not answer; until it does, load alone decides"
                .formatted(workers),
            e);
      }
      return PrefixMatches.NOTHING;
    }
  }

  /** Whether the index is not to be queried now; one request tries it after each rest. */
  private boolean rests() {
    var silent = silence.get();
    if (silent == null) {
      return false;
    }
    long now = nanoClock.getAsLong();
    return now - silent.triedAtNanos < REST.toNanos()
        || !silence.compareAndSet(silent, new Silence(now));
  }

  private PrefixMatches ask(KvIndexQuery query) throws ExecutionException, TimeoutException {
    var asked = plane.ask(workers, query, Deadline.after(PATIENCE));
    try {
      return switch (asked.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
        case KvIndexReply.Scores scores -> new RemoteMatches(scores);
        case KvIndexReply.Refused refused ->
            throw new ExecutionException(
                new EngineFailedException(ErrorCode.UNKNOWN, refused.message(), null));
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancelledException("interrupted while an index was asked");
    } finally {
      var _ = asked.cancel(false); // does nothing to a finished query
    }
  }

  /** The overlaps in the index's answer. */
  private static final class RemoteMatches implements PrefixMatches {
    private final Map<WorkerRank, Integer> device = new HashMap<>();
    private final Map<WorkerRank, Integer> host = new HashMap<>();
    private final Map<WorkerRank, Integer> disk = new HashMap<>();

    RemoteMatches(KvIndexReply.Scores scores) {
      add(scores.device(), device);
      add(scores.below().getOrDefault(StorageTier.HOST_PINNED, List.of()), host);
      add(scores.below().getOrDefault(StorageTier.DISK, List.of()), disk);
      add(scores.below().getOrDefault(StorageTier.EXTERNAL, List.of()), disk);
    }

    private static void add(List<KvIndexReply.RankOverlap> all, Map<WorkerRank, Integer> to) {
      all.forEach(held -> to.merge(held.rank(), held.blocks(), Integer::sum));
    }

    @Override
    public int onDevice(WorkerRank rank) {
      return device.getOrDefault(rank, 0);
    }

    @Override
    public void extend(List<WorkerRank> ranks, int[] hostBlocks, int[] diskBlocks) {
      for (int i = 0; i < hostBlocks.length; i++) {
        hostBlocks[i] = host.getOrDefault(ranks.get(i), 0);
        diskBlocks[i] = disk.getOrDefault(ranks.get(i), 0);
      }
    }
  }

  @Override
  public int size() {
    return 0; // the index belongs to another router
  }

  @Override
  public void close() {} // a running query ends by itself
}
