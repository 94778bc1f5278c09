package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventSource;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.Recoveries;
import io.dynamo.router.pool.SharedPools;
import io.dynamo.router.share.FakeIndexPlane;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import io.dynamo.wire.kv.ActiveLoadCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A router with workers, events and discovery that the test controls. */
abstract class RouterHarness {
  static final EndpointId ENDPOINT = FakeInstances.ENDPOINT;
  static final WorkerSet WORKERS = FakeInstances.WORKERS;
  static final int BLOCK_TOKENS = 4;
  static final Set<RouterSettings.Mode> FREE_MODES =
      EnumSet.complementOf(EnumSet.of(RouterSettings.Mode.DIRECT));

  static final Alarms NEVER = (_, _) -> () -> {};

  /** Announces event sources on the caller's thread. */
  static final class Sources implements Discovery {
    final List<Consumer<DiscoveryEvent<EventSource>>> listeners = new ArrayList<>();

    void add(EventSource source) {
      listeners.forEach(listener -> listener.accept(new DiscoveryEvent.Added<>(source)));
    }

    void lose(EventSource source) {
      listeners.forEach(listener -> listener.accept(new DiscoveryEvent.Lost<>(source)));
    }

    @Override
    public InstanceId instanceId() {
      return new InstanceId(0x5e1f);
    }

    @Override
    public Handle register(DiscoveryRecord record) {
      throw new UnsupportedOperationException("a router registers nothing");
    }

    @Override
    public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
      throw new UnsupportedOperationException("a router registers nothing");
    }

    @Override
    @SuppressWarnings("unchecked") // a router watches event sources only
    public <R extends DiscoveryRecord> Handle watch(
        Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
      assertThat(kind).isEqualTo(EventSource.class);
      var added = (Consumer<DiscoveryEvent<EventSource>>) (Consumer<?>) listener;
      listeners.add(added);
      return () -> listeners.remove(added);
    }

    @Override
    public void close() {}
  }

  final Sources sources = new Sources();
  final FakeInstances workers = new FakeInstances();
  final FakePlane plane = new FakePlane();
  final FakeIndexPlane indexes = new FakeIndexPlane();
  SharedPools pools =
      (_, _) -> {
        throw new AssertionError("workers share nothing");
      };
  final Metrics metrics = new Metrics();
  LongSupplier nanoClock = System::nanoTime;
  List<RankEvent> next = List.of();
  RankRange range = RankRange.ONE;
  final Map<Long, WorkerTraits> traits = new HashMap<>();
  EndpointProfile profile = EndpointProfile.UNKNOWN;
  WorkerCards cards =
      new WorkerCards() {
        @Override
        public WorkerTraits traits(Instance worker) {
          return traits.getOrDefault(worker.id().value(), WorkerTraits.of(range));
        }

        @Override
        public @Nullable WorkerSet set(Instance worker) {
          return WORKERS;
        }

        @Override
        public Collection<WorkerSet> sets(EndpointId endpoint) {
          return List.of(WORKERS);
        }

        @Override
        public @Nullable WorkerSet serving(WorkerSet asked) {
          return asked.equals(WORKERS) ? asked : null;
        }

        @Override
        public EndpointProfile profile(WorkerSet set) {
          return profile;
        }

        @Override
        public Cancellation.Registration onChange(Consumer<EndpointId> listener) {
          return () -> {}; // the cards never change
        }
      };

  /** Returns a counter with the labels of Dynamo's router metrics. */
  long counted(MetricName name, Label... more) {
    var labels = new ArrayList<>(List.of(more));
    labels.add(new Label("dynamo_component", ENDPOINT.component()));
    labels.add(new Label("dynamo_namespace", ENDPOINT.namespace()));
    labels.add(new Label("router_id", "router"));
    labels.add(new Label("worker_id", "5e1f"));
    return metrics.counter(name, labels.toArray(Label[]::new)).value();
  }

  EndpointRouters router(RouterSettings.Mode mode) {
    return router(RouterSettings.of(mode));
  }

  EndpointRouters router(RouterSettings settings) {
    return new EndpointRouters(
        "router",
        settings,
        new RouterInputs(
            _ -> workers,
            cards,
            new EventFeed(
                plane,
                sources,
                _ -> new byte[0],
                _ -> next,
                new Recoveries(
                    (_, _) ->
                        CompletableFuture.failedFuture(new AssertionError("sources are live")),
                    NEVER,
                    Runnable::run,
                    () -> 0),
                NEVER,
                Runnable::run),
            indexes,
            pools),
        metrics,
        new RouterClock(nanoClock, nanoClock, new Random(1)::nextDouble));
  }

  static int[] prompt(int from, int tokens) {
    return IntStream.range(from, from + tokens).toArray();
  }

  static RouteRequest request(int[] tokens, long... excluded) {
    var ids = new HashSet<InstanceId>();
    for (long id : excluded) {
      ids.add(new InstanceId(id));
    }
    return new RouteRequest("r", WORKERS, tokens, BLOCK_TOKENS, ids);
  }

  void stored(long worker, int rank, long id, int[] tokens) {
    var hashes = BlockHashes.of(tokens, BLOCK_TOKENS);
    var blocks = new ArrayList<StoredBlock>();
    for (int i = 0; i < hashes.length(); i++) {
      blocks.add(
          new StoredBlock(new SequenceHash(hashes.sequence(i)), new BlockHash(hashes.block(i))));
    }
    var of = new WorkerRank(new InstanceId(worker), rank);
    long publisher = 10 * worker + rank;
    sources.add(new KvEventSource(ENDPOINT, of, publisher, null).toRecord());
    next = List.of(new RankEvent(of, new KvEvent.Stored(id, null, blocks)));
    plane.tell(publisher, KvEventSource.TOPIC, new byte[0]);
  }

  /** Makes worker {@code id} report the number of its blocks in use. */
  void reported(long id, long usedBlocks) {
    var load = ActiveLoad.ofUsedBlocks(new WorkerRank(new InstanceId(id), 0), usedBlocks);
    plane.tell(id, ActiveLoad.TOPIC, ActiveLoadCodec.encode(load));
  }

  static RouteRequest request(int[] tokens, RouteHints hints, long... excluded) {
    var failed = new HashSet<InstanceId>();
    for (long id : excluded) {
      failed.add(new InstanceId(id));
    }
    return new RouteRequest(
        "r",
        WORKERS,
        tokens,
        BLOCK_TOKENS,
        failed,
        hints,
        Deadline.after(Duration.ofMinutes(1)),
        new Cancellation());
  }

  static long worker(RouteDecision decision) {
    return decision.rank().worker().value();
  }

  long routed(EndpointRouters router, RouteHints hints, long... excluded) {
    try (var decision = router.route(request(prompt(0, 8), hints, excluded))) {
      return worker(decision);
    }
  }
}
