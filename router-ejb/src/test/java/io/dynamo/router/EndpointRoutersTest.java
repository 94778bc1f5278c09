package io.dynamo.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

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
import io.dynamo.error.NoWorkerException;
import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.Recoveries;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EndpointRoutersTest {
  private static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");
  private static final int BLOCK_TOKENS = 4;

  private static final class Workers implements EndpointInstances {
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

  private static final class Plane implements EventPlane {
    final List<Consumer<EventEnvelope>> listeners = new ArrayList<>();
    final List<EventSubject> subjects = new ArrayList<>();

    @Override
    public Publisher publisher(EventSubject subject) {
      throw new UnsupportedOperationException("a router publishes nothing");
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

  private static final Alarms NEVER = (_, _) -> () -> {};

  /** Tells of event sources on the caller's thread. */
  private static final class Sources implements Discovery {
    private final List<Consumer<DiscoveryEvent<EventSource>>> listeners = new ArrayList<>();

    void add(EventSource source) {
      listeners.forEach(listener -> listener.accept(new DiscoveryEvent.Added<>(source)));
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

  private final Sources sources = new Sources();
  private final Workers workers = new Workers();
  private final Plane plane = new Plane();
  private final Metrics metrics = new Metrics();
  private List<RankEvent> next = List.of();
  private RankRange range = RankRange.ONE;

  private static Instance worker(long id) {
    return new Instance(
        ENDPOINT,
        new InstanceId(id),
        new TransportAddress.Tcp("127.0.0.1:1", id + "/path"),
        null,
        PayloadFormat.JSON);
  }

  private EndpointRouters router(RouterSettings.Mode mode) {
    return new EndpointRouters(
        new RouterSettings(mode, 1.0, 0.0, false),
        _ -> workers,
        _ -> range,
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
        System::nanoTime);
  }

  private static int[] prompt(int from, int tokens) {
    return IntStream.range(from, from + tokens).toArray();
  }

  private static RouteRequest request(int[] tokens, long... excluded) {
    var ids = new HashSet<InstanceId>();
    for (long id : excluded) {
      ids.add(new InstanceId(id));
    }
    return new RouteRequest("r", ENDPOINT, tokens, BLOCK_TOKENS, ids);
  }

  private void stored(long worker, int rank, long id, int[] tokens) {
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

  @Test
  void aPromptGoesWhereItsPrefixIs() {
    workers.set(1, 2, 3);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      assertThat(plane.subjects)
          .containsExactly(
              new EventSubject(ENDPOINT, KvEventSource.TOPIC),
              new EventSubject(ENDPOINT, "kv_metrics"),
              new EventSubject(ENDPOINT, "active_sequences_events"));
      stored(2, 0, 1, prompt(0, 32));
      try (var decision = router.route(request(prompt(0, 42)))) {
        assertThat(decision.instance()).isEqualTo(worker(2));
        assertThat(decision.rank()).isEqualTo(new WorkerRank(new InstanceId(2), 0));
        assertThat(decision.overlapBlocks()).isEqualTo(8);
      }
      assertThat(metrics.counter(RouterMetrics.OVERLAP_BLOCKS).value()).isEqualTo(8);
      assertThat(metrics.counter(RouterMetrics.PROMPT_BLOCKS).value()).isEqualTo(10);
      assertThat(metrics.counter(RouterMetrics.DECISIONS, new Label("mode", "kv")).value())
          .isEqualTo(1);
    }
  }

  @Test
  void loadOutweighsASmallOverlap() {
    workers.set(1, 2);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 4));
      try (var first = router.route(request(prompt(0, 40)));
          var second = router.route(request(prompt(0, 4)))) {
        assertThat(first.instance().id().value()).isEqualTo(1);
        assertThat(second.instance().id().value()).isEqualTo(2);
        assertThat(second.overlapBlocks()).isZero();
        assertThat(metrics.counter(RouterMetrics.NON_MAX_OVERLAP_SELECTIONS).value()).isEqualTo(1);
      }
    }
  }

  @Test
  void concurrentRequestsSpreadOverIdleWorkers() {
    workers.set(1, 2, 3, 4);
    try (var router = router(RouterSettings.Mode.KV)) {
      var decisions = Stream.generate(() -> router.route(request(prompt(0, 40)))).limit(4).toList();
      assertThat(decisions)
          .extracting(it -> it.instance().id().value())
          .containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
      decisions.forEach(RouteDecision::close);
    }
  }

  @Test
  void aClosedDecisionIsNoLoad() {
    workers.set(1);
    try (var router = router(RouterSettings.Mode.KV)) {
      var decision = router.route(request(prompt(0, 400)));
      decision.prefillDone();
      decision.close();
      decision.close();
      workers.set(1, 2);
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(1000, 4));
      try (var again = router.route(request(prompt(1000, 8)))) {
        assertThat(again.instance().id().value()).isEqualTo(1);
      }
    }
  }

  @Test
  void everyRankIsACandidate() {
    workers.set(1);
    range = new RankRange(2, 3);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(1, 3, 1, prompt(0, 32));
      try (var decision = router.route(request(prompt(0, 40)))) {
        assertThat(decision.rank()).isEqualTo(new WorkerRank(new InstanceId(1), 3));
      }
    }
    try (var router = router(RouterSettings.Mode.ROUND_ROBIN)) {
      assertThat(Stream.generate(() -> router.route(request(prompt(0, 40)))).limit(4).toList())
          .extracting(it -> it.rank().rank())
          .containsExactly(2, 3, 4, 2);
    }
  }

  @Test
  void anExcludedWorkerIsNeverChosen() {
    workers.set(1, 2);
    for (var mode : RouterSettings.Mode.values()) {
      try (var router = router(mode)) {
        for (int i = 0; i < 10; i++) {
          assertThat(router.route(request(prompt(0, 8), 1)).instance().id().value()).isEqualTo(2);
        }
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> router.route(request(prompt(0, 8), 1, 2)))
            .withMessageContaining("2 known");
      }
    }
  }

  @Test
  void aWorkerSetAsideIsTheLastResort() {
    workers.set(1, 2);
    workers.inhibit(new InstanceId(1));
    for (var mode : RouterSettings.Mode.values()) {
      try (var router = router(mode)) {
        for (int i = 0; i < 10; i++) {
          assertThat(router.route(request(prompt(0, 8))).instance().id().value()).isEqualTo(2);
        }
        assertThat(router.route(request(prompt(0, 8), 2)).instance().id().value()).isEqualTo(1);
      }
    }
  }

  @Test
  void withoutWorkersARequestIsRefused() {
    for (var mode : RouterSettings.Mode.values()) {
      try (var router = router(mode)) {
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> router.route(request(prompt(0, 8))));
      }
    }
  }

  @Test
  void aWorkerThatComesBackStartsCold() {
    workers.set(1, 2);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 32));
      workers.set(2);
      workers.set(1, 2);
      try (var decision = router.route(request(prompt(0, 40)))) {
        assertThat(decision.overlapBlocks()).isZero();
      }
    }
  }

  @Test
  void closingStopsListening() {
    workers.set(1);
    var router = router(RouterSettings.Mode.KV);
    router.prepare(ENDPOINT);
    router.prepare(ENDPOINT);
    assertThat(plane.listeners).hasSize(3);
    router.close();
    router.close();
    router.prepare(ENDPOINT);
    assertThat(plane.listeners).isEmpty();
    assertThat(sources.listeners).isEmpty();
    assertThat(workers.listeners).isEmpty();
    assertThatIllegalStateException().isThrownBy(() -> router.route(request(prompt(0, 8))));
  }

  @Test
  void turnsNeedNoEvents() {
    workers.set(1, 2);
    try (var router = router(RouterSettings.Mode.ROUND_ROBIN)) {
      assertThat(router.route(request(prompt(0, 8))).instance()).isEqualTo(worker(1));
      assertThat(router.route(request(prompt(0, 8))).instance()).isEqualTo(worker(2));
      assertThat(plane.listeners).isEmpty();
    }
  }

  @Test
  void aRequestMustKnowItsBlockSize() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RouteRequest("r", ENDPOINT, new int[1], 0, Set.of()))
        .withMessageContaining("kv_cache_block_size");
  }
}
