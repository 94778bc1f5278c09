package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.index.PrefixTableIndexer;
import io.dynamo.router.ingest.EndpointEvents;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.LoadIntake;
import io.dynamo.router.ingest.Placement;
import io.dynamo.router.ingest.Replicas;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.router.select.CostModel;
import io.dynamo.router.select.RankSelector;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Places the requests of one endpoint by the prefixes that its ranks hold and by their load. Events
 * come in on threads of the feed and decisions are made on the callers'; they share no lock.
 */
final class OverlapRouter implements EndpointRouter {
  /** Nobody needs this long for one answer; what is booked longer has leaked (Dynamo's value). */
  static final Duration BOOKING_EXPIRY = Duration.ofMinutes(5);

  private record Placed(Instance instance, WorkerRank rank, int overlapBlocks, Placement placement)
      implements RouteDecision {
    @Override
    public void prefillDone() {
      placement.prefillDone();
    }

    @Override
    public void close() {
      placement.close();
    }
  }

  private final EndpointInstances instances;
  private final Function<Instance, RankRange> ranksOf;
  private final RankSelector selector;
  private final PrefixTableIndexer index = new PrefixTableIndexer();
  private final ActiveSequences load;
  private final EndpointEvents events;
  private final LoadIntake reports;
  private final Replicas replicas;
  private final Metrics.Counter promptBlocks;
  private final Metrics.Counter overlapBlocks;
  private final Metrics.Counter nonMaxOverlap;

  OverlapRouter(
      EndpointId endpoint,
      EndpointInstances instances,
      Function<Instance, RankRange> ranksOf,
      RankSelector selector,
      boolean replicaSync,
      EventFeed feed,
      Metrics metrics,
      LongSupplier nanoClock) {
    this.instances = instances;
    this.ranksOf = ranksOf;
    this.selector = selector;
    this.load = new ActiveSequences(BOOKING_EXPIRY, nanoClock);
    this.promptBlocks = metrics.counter(RouterMetrics.PROMPT_BLOCKS);
    this.overlapBlocks = metrics.counter(RouterMetrics.OVERLAP_BLOCKS);
    this.nonMaxOverlap = metrics.counter(RouterMetrics.NON_MAX_OVERLAP_SELECTIONS);
    var label = new Label("endpoint", endpoint.toString());
    metrics.gauge(RouterMetrics.INDEX_BLOCKS, index::size, label);
    metrics.gauge(RouterMetrics.ACTIVE_REQUESTS, load::active, label);
    var reported = new ReportedLoads(nanoClock);
    metrics.gauge(RouterMetrics.REPORTED_USED_BLOCKS, reported::usedBlocks, label);
    this.events = new EndpointEvents(endpoint, instances, index, feed, metrics, nanoClock);
    this.reports = new LoadIntake(endpoint, instances, reported, feed.plane(), metrics);
    this.replicas =
        new Replicas(
            endpoint,
            feed.discovery().instanceId(),
            replicaSync,
            load,
            instances,
            feed.plane(),
            feed.executor(),
            metrics);
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    var candidates = Candidates.of(request, instances, ranksOf);
    var hashes = BlockHashes.of(request.tokenIds(), request.blockTokens());
    var prompt = new CostModel.Prompt(request.tokenIds().length, request.blockTokens());
    var scores = index.match(hashes);
    var overlaps = new int[candidates.ranks().size()];
    int most = 0;
    for (int i = 0; i < overlaps.length; i++) {
      overlaps[i] = scores.blocks(candidates.ranks().get(i));
      most = Math.max(most, overlaps[i]);
    }
    var booking =
        load.book(candidates.ranks(), hashes, loads -> selector.choose(prompt, overlaps, loads));
    int chosen = booking.candidate();
    promptBlocks.add(hashes.length());
    overlapBlocks.add(overlaps[chosen]);
    if (overlaps[chosen] < most) {
      nonMaxOverlap.increment();
    }
    var rank = candidates.ranks().get(chosen);
    var placement =
        replicas.placed(request.requestId(), rank, hashes, booking.tokensToPrefill(), booking);
    return new Placed(candidates.instances().get(chosen), rank, overlaps[chosen], placement);
  }

  @Override
  public void close() {
    replicas.close();
    reports.close();
    events.close();
  }
}
