package io.dynamo.router.wiring;

import io.dynamo.concurrent.Alarms;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.BookedLoads;
import io.dynamo.router.BusyControl;
import io.dynamo.router.KvRouter;
import io.dynamo.router.LocalPrefill;
import io.dynamo.router.QueueDepths;
import io.dynamo.router.RankReports;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteExplanations;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.endpoint.EndpointRouters;
import io.dynamo.router.endpoint.ModelTraits;
import io.dynamo.router.endpoint.RouterClock;
import io.dynamo.router.endpoint.RouterInputs;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.PlaneKvQueries;
import io.dynamo.router.ingest.PlaneQuestions;
import io.dynamo.router.ingest.Recoveries;
import io.dynamo.router.pool.HicachePools;
import io.dynamo.router.share.PlaneIndexes;
import io.dynamo.router.share.SharedThresholds;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RouterStatus;
import io.dynamo.wire.MessageCodec;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The router on a runtime: follows the models in discovery and listens to their workers. */
final class RunningRouter
    implements KvRouter,
        LocalPrefill,
        BusyControl,
        BookedLoads,
        RankReports,
        QueueDepths,
        RouteExplanations,
        RouterStatus,
        AutoCloseable {
  private static final long RETRY_MILLIS = 1000; // to write what the store has lost

  private final String id = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
  private final LongAdder placed = new LongAdder();
  private final EndpointRouters routers;
  private final SharedThresholds thresholds;
  private final Discovery.Handle models;

  RunningRouter(
      DynamoRuntime runtime,
      Function<List<RankEvent>, byte[]> encoder,
      Function<byte[], List<RankEvent>> decoder,
      MessageCodec<KvQuery, KvReply> queries,
      MessageCodec<KvIndexQuery, KvIndexReply> indexQueries) {
    var traits = new ModelTraits();
    var alarm = Alarms.on(runtime.timer());
    DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
    var recoveries =
        new Recoveries(
            new PlaneKvQueries(runtime.client(), queries, runtime.blocking()),
            alarm,
            runtime.blocking(),
            random);
    routers =
        new EndpointRouters(
            id,
            runtime.settings().router(),
            new RouterInputs(
                runtime::instances,
                traits,
                new EventFeed(
                    runtime.events(),
                    runtime.discovery(),
                    encoder,
                    decoder,
                    recoveries,
                    alarm,
                    runtime.blocking()),
                new PlaneIndexes(
                    runtime.server(),
                    runtime.discovery(),
                    runtime.settings().tcp().format(),
                    indexQueries,
                    new PlaneQuestions<>(runtime.client(), indexQueries, runtime.blocking()),
                    runtime::instances,
                    runtime.blocking()),
                new HicachePools(traits, runtime.streams(), runtime.metrics(), id)),
            runtime.metrics(),
            new RouterClock(
                System::nanoTime,
                () -> ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now()),
                random));
    thresholds =
        new SharedThresholds(
            runtime.store(),
            routers::setThresholds,
            runtime.blocking(),
            task -> {
              var _ = runtime.timer().schedule(task, RETRY_MILLIS, TimeUnit.MILLISECONDS);
            });
    models =
        traits.follow(
            runtime.discovery(),
            endpoint -> runtime.blocking().execute(() -> routers.prepare(endpoint)));
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    var decision = routers.route(request);
    placed.increment();
    return decision;
  }

  @Override
  public @Nullable WorkerRank localPrefill(RouteRequest decode, RouteRequest prefill) {
    return routers.localPrefill(decode, prefill);
  }

  @Override
  public RouterSettings.Busy thresholds(WorkerSet workers) {
    return routers.thresholds(workers);
  }

  @Override
  public RouterSettings.Busy changeThresholds(
      WorkerSet workers, UnaryOperator<RouterSettings.Busy> change) {
    return thresholds.change(routers.place(workers), routers.thresholds(workers), change);
  }

  @Override
  public boolean allBusy(WorkerSet workers) {
    return routers.allBusy(workers);
  }

  @Override
  public int blocks(EndpointId endpoint, WorkerRank rank) {
    return routers.blocks(endpoint, rank);
  }

  @Override
  public long prefillTokens(EndpointId endpoint, WorkerRank rank) {
    return routers.prefillTokens(endpoint, rank);
  }

  @Override
  public Optional<RankReport> report(EndpointId endpoint, WorkerRank rank) {
    return routers.report(endpoint, rank);
  }

  @Override
  public int queued(WorkerSet workers) {
    return routers.queued(workers);
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public long placed() {
    return placed.sum();
  }

  @Override
  public Optional<RouteExplanation> of(String requestId) {
    return routers.of(requestId);
  }

  @Override
  public List<RouteExplanation> recent(int limit) {
    return routers.recent(limit);
  }

  @Override
  public boolean remote() {
    return routers.remote();
  }

  @Override
  public void close() {
    models.close();
    thresholds.close();
    routers.close();
  }
}
