package io.dynamo.router.endpoint;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteExplanations;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.router.select.SelectionReason;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the newest decisions in reused slots: keeping one allocates nothing once its slot has room
 * for the candidates. Safe for concurrent use.
 */
final class DecisionLog implements RouteExplanations {
  /** The reason why fewer ranks than usual were candidates. */
  enum Narrowing {
    NONE,
    PIN,
    SESSION
  }

  /**
   * The properties that all decisions of one router share.
   *
   * @param reported the workers' load reports
   * @param readsReports whether reports may make workers busy now
   */
  record Router(RouterSettings.Mode mode, ReportedLoads reported, BooleanSupplier readsReports) {}

  private final boolean remote;
  private final Place[] places;
  private final AtomicLong next = new AtomicLong();

  DecisionLog(RouterSettings.Explaining settings) {
    this.remote = settings.remote();
    this.places = new Place[settings.capacity()];
    Arrays.setAll(places, _ -> new Place());
  }

  /**
   * Keeps one decision.
   *
   * @param waitedNanos nanoseconds from the request's arrival to the decision
   * @param queuedNanos the part of {@code waitedNanos} spent in the queue
   */
  void add(
      RouteRequest request,
      Router router,
      Narrowing narrowing,
      long waitedNanos,
      long queuedNanos,
      RankCandidates candidates,
      Strategy.Verdict verdict) {
    if (places.length > 0) {
      var place = places[(int) (next.getAndIncrement() % places.length)];
      place.fill(request, router, narrowing, waitedNanos, queuedNanos, candidates, verdict);
    }
  }

  @Override
  public Optional<RouteExplanation> of(String requestId) {
    long newest = next.get() - 1;
    for (long i = newest; i >= 0 && i > newest - places.length; i--) {
      var found = places[(int) (i % places.length)].read(requestId);
      if (found != null) {
        return Optional.of(found);
      }
    }
    return Optional.empty();
  }

  @Override
  public List<RouteExplanation> recent(int limit) {
    var all = new ArrayList<RouteExplanation>();
    long newest = next.get() - 1;
    for (long i = newest; i >= 0 && i > newest - places.length && all.size() < limit; i--) {
      var found = places[(int) (i % places.length)].read(null);
      if (found != null) {
        all.add(found);
      }
    }
    return all;
  }

  @Override
  public boolean remote() {
    return remote;
  }

  /** The slot of one decision; all fields are guarded by this. */
  private static final class Place {
    private @Nullable String requestId; // null while the slot is unused
    private @Nullable WorkerSet workers;
    private RouterSettings.Mode mode = RouterSettings.Mode.KV;
    private Narrowing narrowing = Narrowing.NONE;
    private SelectionReason reason = SelectionReason.ONLY_CANDIDATE;
    private long atMillis;
    private long waitedNanos;
    private long queuedNanos;
    private boolean readsReports;
    private int promptTokens;
    private int blockTokens;
    private int total;
    private int size;
    private int chosen;
    private WorkerRank[] ranks = {};
    private int[] counts = {}; // device, host, disk, shared, blocks, added, requests of each
    private long[] prefillTokens = {};
    private @Nullable ActiveLoad[] reports = {};
    private long[] reportAges = {}; // nanoseconds
    private double[] terms = {}; // prefill, credit, shared, decode, cost of each candidate

    private static final int COUNTS = 7;
    private static final int TERMS = 5;

    synchronized void fill(
        RouteRequest request,
        Router router,
        Narrowing narrowing,
        long waitedNanos,
        long queuedNanos,
        RankCandidates candidates,
        Strategy.Verdict verdict) {
      this.requestId = request.requestId();
      this.workers = request.workers();
      this.mode = router.mode();
      this.narrowing = narrowing;
      this.reason = verdict.reason();
      this.atMillis = System.currentTimeMillis();
      this.waitedNanos = waitedNanos;
      this.queuedNanos = queuedNanos;
      this.readsReports = router.readsReports().getAsBoolean();
      this.promptTokens = request.tokenIds().length;
      this.blockTokens = request.blockTokens();
      this.total = candidates.size();
      this.size = Math.min(total, RouteExplanation.MAX_CANDIDATES);
      if (ranks.length < size) {
        ranks = new WorkerRank[size];
        counts = new int[COUNTS * size];
        prefillTokens = new long[size];
        reports = new ActiveLoad[size];
        reportAges = new long[size];
        terms = new double[TERMS * size];
      }
      for (int i = 0; i < size; i++) {
        copy(i, i, candidates, verdict, router.reported());
      }
      chosen = verdict.candidate();
      if (chosen >= size) {
        chosen = size - 1;
        copy(verdict.candidate(), chosen, candidates, verdict, router.reported());
      }
    }

    private void copy(
        int from,
        int to,
        RankCandidates candidates,
        Strategy.Verdict verdict,
        ReportedLoads reported) {
      ranks[to] = candidates.ranks().get(from);
      var loads = verdict.loads();
      var overlaps = verdict.overlaps();
      int c = COUNTS * to;
      counts[c] = overlaps == null ? 0 : overlaps.device()[from];
      counts[c + 1] = overlaps == null ? 0 : overlaps.host()[from];
      counts[c + 2] = overlaps == null ? 0 : overlaps.disk()[from];
      counts[c + 3] = overlaps == null ? 0 : overlaps.sharedBy(from);
      counts[c + 4] = loads.blocks()[from];
      counts[c + 5] = loads.addedBlocks()[from];
      counts[c + 6] = loads.requests()[from];
      prefillTokens[to] = loads.prefillTokens()[from];
      reported.read(ranks[to], to, reports, reportAges);
      var of = verdict.terms();
      int t = TERMS * to;
      terms[t] = of == null ? 0 : of.prefill()[from];
      terms[t + 1] = of == null ? 0 : of.credit()[from];
      terms[t + 2] = of == null ? 0 : of.sharedBy(from);
      terms[t + 3] = of == null ? 0 : of.decode()[from];
      terms[t + 4] = of == null ? 0 : of.cost()[from];
    }

    /** Reads the kept decision; null when it belongs to another request than {@code wanted}. */
    synchronized @Nullable RouteExplanation read(@Nullable String wanted) {
      var id = requestId;
      var at = workers;
      if (id == null || at == null || (wanted != null && !wanted.equals(id))) {
        return null;
      }
      var all = new ArrayList<RouteExplanation.Candidate>(size);
      for (int i = 0; i < size; i++) {
        int c = COUNTS * i;
        int t = TERMS * i;
        all.add(
            new RouteExplanation.Candidate(
                ranks[i],
                counts[c],
                counts[c + 1],
                counts[c + 2],
                counts[c + 3],
                prefillTokens[i],
                counts[c + 4],
                counts[c + 5],
                counts[c + 6],
                report(i),
                terms[t],
                terms[t + 1],
                terms[t + 2],
                terms[t + 3],
                terms[t + 4]));
      }
      return new RouteExplanation(
          id,
          at.endpoint(),
          at.model(),
          Instant.ofEpochMilli(atMillis),
          name(mode),
          waitedNanos,
          queuedNanos,
          promptTokens,
          blockTokens,
          ranks[chosen],
          name(reason),
          name(narrowing),
          total,
          all);
    }

    private RouteExplanation.@Nullable Report report(int i) {
      var report = reports[i];
      return report == null
          ? null
          : new RouteExplanation.Report(
              report.kvUsedBlocks(),
              report.activeDecodeBlocks(),
              report.activePrefillTokens(),
              reportAges[i],
              readsReports);
    }

    private static String name(Enum<?> constant) {
      return constant.name().toLowerCase(Locale.ROOT);
    }
  }
}
