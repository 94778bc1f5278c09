package io.dynamo.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.Cancellation;
import io.dynamo.config.RouterSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventSource;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.kv.codec.ActiveLoadCodec;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.Recoveries;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
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

/** Workers, events and discovery as a test says, and a router on top of them. */
abstract class RouterHarness {
  static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");
  static final int BLOCK_TOKENS = 4;
  static final Set<RouterSettings.Mode> FREE_MODES =
      EnumSet.complementOf(EnumSet.of(RouterSettings.Mode.DIRECT));

  static final class Workers implements EndpointInstances {
    List<Instance> live = List.of();
    final Set<InstanceId> inhibited = new HashSet<>();
    final List<Runnable> listeners = new ArrayList<>();

    void set(long... ids) {
      live = IntStream.range(0, ids.length).mapToObj(i -> worker(ids[i])).toList();
      listeners.forEach(Runnable::run);
    }

    @Override
    public List<Instance> live() {
      return live;
    }

    @Override
    public Set<InstanceId> inhibited() {
      return Set.copyOf(inhibited);
    }

    @Override
    public void inhibit(InstanceId id) {
      inhibited.add(id);
    }

    @Override
    public Cancellation.Registration onChange(Runnable listener) {
      listeners.add(listener);
      listener.run();
      return () -> listeners.remove(listener);
    }
  }

  static final class Plane implements EventPlane {
    final List<Consumer<EventEnvelope>> listeners = new ArrayList<>();
    final List<EventSubject> subjects = new ArrayList<>();
    final List<EventEnvelope> published = new ArrayList<>();

    @Override
    public Publisher publisher(EventSubject subject) {
      return new Publisher() {
        @Override
        public long id() {
          return 0xf00d;
        }

        @Override
        public void publish(byte[] payload) {
          published.add(new EventEnvelope(0xf00d, published.size(), 0, subject.topic(), payload));
        }

        @Override
        public void close() {}
      };
    }

    /** Publishes as another router or worker would. */
    void tell(String topic, byte[] payload) {
      for (int i = 0; i < subjects.size(); i++) {
        if (subjects.get(i).topic().equals(topic)) {
          listeners.get(i).accept(new EventEnvelope(0xbeef, 0, 0, topic, payload));
        }
      }
    }

    @Override
    public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
      subjects.add(subject);
      listeners.add(listener);
      return () -> listeners.remove(listener);
    }

    @Override
    public void close() {}
  }

  static final Alarms NEVER = (_, _) -> () -> {};

  /** Tells of event sources on the caller's thread. */
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
  final Workers workers = new Workers();
  final Plane plane = new Plane();
  final Metrics metrics = new Metrics();
  LongSupplier nanoClock = System::nanoTime;
  List<RankEvent> next = List.of();
  RankRange range = RankRange.ONE;
  final Map<Long, WorkerTraits> traits = new HashMap<>();
  EndpointProfile profile = EndpointProfile.UNKNOWN;

  static Instance worker(long id) {
    return new Instance(
        ENDPOINT,
        new InstanceId(id),
        new TransportAddress.Tcp("127.0.0.1:1", id + "/path"),
        null,
        PayloadFormat.JSON);
  }

  EndpointRouters router(RouterSettings.Mode mode) {
    return router(RouterSettings.of(mode));
  }

  EndpointRouters router(RouterSettings settings) {
    return new EndpointRouters(
        "router",
        settings,
        _ -> workers,
        new WorkerCards() {
          @Override
          public WorkerTraits traits(Instance worker) {
            return traits.getOrDefault(worker.id().value(), WorkerTraits.of(range));
          }

          @Override
          public EndpointProfile profile(EndpointId endpoint) {
            return profile;
          }
        },
        new EventFeed(
            plane,
            sources,
            _ -> next,
            new Recoveries(
                (_, _) -> CompletableFuture.failedFuture(new AssertionError("sources are live")),
                NEVER,
                Runnable::run,
                () -> 0),
            NEVER,
            Runnable::run),
        metrics,
        new Random(1)::nextDouble,
        nanoClock,
        nanoClock);
  }

  static int[] prompt(int from, int tokens) {
    return IntStream.range(from, from + tokens).toArray();
  }

  static RouteRequest request(int[] tokens, long... excluded) {
    var ids = new HashSet<InstanceId>();
    for (long id : excluded) {
      ids.add(new InstanceId(id));
    }
    return new RouteRequest("r", ENDPOINT, tokens, BLOCK_TOKENS, ids);
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
    plane
        .listeners
        .getFirst()
        .accept(
            new EventEnvelope(publisher, id, 0, plane.subjects.getFirst().topic(), new byte[0]));
  }

  /** Worker {@code id} tells how many blocks are in use. */
  void reported(long id, long usedBlocks) {
    for (int i = 0; i < plane.subjects.size(); i++) {
      if (plane.subjects.get(i).topic().equals(ActiveLoad.TOPIC)) {
        var load = ActiveLoad.ofUsedBlocks(new WorkerRank(new InstanceId(id), 0), usedBlocks);
        plane
            .listeners
            .get(i)
            .accept(new EventEnvelope(id, 1, 0, ActiveLoad.TOPIC, ActiveLoadCodec.encode(load)));
      }
    }
  }
}
