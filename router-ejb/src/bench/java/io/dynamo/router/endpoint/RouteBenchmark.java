package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.index.TieredIndexer;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.Recoveries;
import io.dynamo.router.share.IndexPlane;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.wire.event.EventEnvelope;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One decision, from token ids to a booked rank and back: hashing, match, cost, booking, free. */
@NullUnmarked // JMH fills the fields before it measures
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class RouteBenchmark {
  private static final EndpointId ENDPOINT = new EndpointId("bench", "backend", "generate");
  private static final WorkerSet WORKERS = new WorkerSet(ENDPOINT, "m", null, null, 16);

  @Param({"8", "64", "512"})
  int ranks;

  @Param({"1000", "32000"})
  int islTokens;

  private EndpointRouters router;
  private RouteRequest request;

  private record Fixed(List<Instance> live) implements EndpointInstances {
    @Override
    public Set<InstanceId> inhibited() {
      return Set.of();
    }

    @Override
    public void inhibit(InstanceId id) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Cancellation.Registration onChange(Runnable listener) {
      listener.run();
      return () -> {};
    }
  }

  private static final class Silent implements EventPlane {
    @Override
    public Publisher publisher(EventSubject subject) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
      return () -> {};
    }

    @Override
    public void close() {}
  }

  private static final class NoIndexes implements IndexPlane {
    @Override
    public Serving serve(EndpointId workers, String model, TieredIndexer index) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<KvIndexReply> ask(
        EndpointId workers, KvIndexQuery query, Deadline deadline) {
      throw new UnsupportedOperationException();
    }
  }

  private static final class NoDiscovery implements Discovery {
    @Override
    public InstanceId instanceId() {
      return new InstanceId(1);
    }

    @Override
    public Handle register(DiscoveryRecord record) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <R extends DiscoveryRecord> Handle watch(
        Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
      return () -> {};
    }

    @Override
    public void close() {}
  }

  @Setup
  public void start() {
    var instances =
        new Fixed(
            LongStream.range(0, ranks)
                .mapToObj(
                    id ->
                        new Instance(
                            ENDPOINT,
                            new InstanceId(id),
                            new TransportAddress.Tcp("127.0.0.1:1", "path"),
                            null,
                            PayloadFormat.JSON))
                .toList());
    router =
        new EndpointRouters(
            "bench",
            RouterSettings.of(RouterSettings.Mode.KV),
            new RouterInputs(
                _ -> instances,
                new WorkerCards() {
                  @Override
                  public WorkerTraits traits(Instance worker) {
                    return WorkerTraits.UNKNOWN;
                  }

                  @Override
                  public WorkerSet set(Instance worker) {
                    return WORKERS;
                  }

                  @Override
                  public Collection<WorkerSet> sets(EndpointId endpoint) {
                    return List.of(WORKERS);
                  }

                  @Override
                  public WorkerSet serving(WorkerSet asked) {
                    return asked;
                  }

                  @Override
                  public EndpointProfile profile(WorkerSet set) {
                    return EndpointProfile.UNKNOWN;
                  }

                  @Override
                  public Cancellation.Registration onChange(Consumer<EndpointId> listener) {
                    return () -> {};
                  }
                },
                new EventFeed(
                    new Silent(),
                    new NoDiscovery(),
                    _ -> new byte[0],
                    _ -> List.of(),
                    new Recoveries(
                        (_, _) -> new CompletableFuture<>(),
                        (_, _) -> () -> {},
                        Runnable::run,
                        () -> 0),
                    (_, _) -> () -> {},
                    Runnable::run),
                new NoIndexes(),
                (_, _) -> {
                  throw new UnsupportedOperationException("workers share nothing");
                }),
            new Metrics(),
            new RouterClock(
                System::nanoTime,
                System::nanoTime,
                () -> ThreadLocalRandom.current().nextDouble()));
    var random = new Random(1);
    for (int i = 0; i < 4 * ranks; i++) { // requests in flight
      router.route(request(random.ints(islTokens).toArray())).prefillDone();
    }
    request = request(random.ints(islTokens).toArray());
  }

  private static RouteRequest request(int[] tokenIds) {
    return new RouteRequest("bench", WORKERS, tokenIds, 16, Set.of());
  }

  @TearDown
  public void stop() {
    router.close();
  }

  @Benchmark
  public int route() {
    try (var decision = router.route(request)) {
      return decision.overlapBlocks();
    }
  }
}
