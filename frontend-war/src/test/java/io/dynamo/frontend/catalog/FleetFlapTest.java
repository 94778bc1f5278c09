package io.dynamo.frontend.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.Execution;
import io.dynamo.config.Settings;
import io.dynamo.config.SettingsReader;
import io.dynamo.config.key.Lookup.SettingText;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.discovery.file.FileDiscovery;
import io.dynamo.error.NoWorkerException;
import io.dynamo.event.RawStreams;
import io.dynamo.event.local.LocalEventPlane;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.endpoint.EndpointRouters;
import io.dynamo.router.endpoint.ModelTraits;
import io.dynamo.router.endpoint.RouterClock;
import io.dynamo.router.endpoint.RouterInputs;
import io.dynamo.router.index.TieredIndexer;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.Recoveries;
import io.dynamo.router.pool.SharedPool;
import io.dynamo.router.share.IndexPlane;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.Planes;
import io.dynamo.runtime.health.SystemHealth;
import io.dynamo.runtime.status.SystemStatus;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.wire.kv.KvEventCodec;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Workers come and go in every way, and the directories of discovery vanish under them: at the end
 * catalog, router and index serve what discovery shows, and nothing is off for ever.
 */
class FleetFlapTest {
  /** Never closed: closing takes seconds, and its thread is a daemon. */
  private static final EventLoops LOOPS = new EventLoops(1);

  private static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");
  private static final Duration LEASE = Duration.ofSeconds(3); // renewed each second
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int SLOTS = 4;
  private static final int STEPS = 40;
  private static final int BLOCK_TOKENS = 4;
  private static final ModelCard CARD =
      TestCard.named("m")
          .blockTokens(BLOCK_TOKENS)
          .tokenizer(new ModelFile("/models/tokenizer.json", "blake3:00", 1L))
          .build();
  private static final int PROMPT_TOKENS = 32;

  @TempDir private Path root;

  private final Settings settings = SettingsReader.read(FleetFlapTest::setting);
  private final Metrics metrics = new Metrics();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Map<Long, Worker> publishers = new ConcurrentHashMap<>(); // those that answer
  private final List<AutoCloseable> opened = new ArrayList<>();

  private static @Nullable SettingText setting(String name) {
    var text =
        Map.of(
                "java.io.tmpdir", "/tmp",
                "server.config.dir", "/srv/config",
                "server.output.dir", "/srv/output")
            .get(name);
    return text == null ? null : new SettingText(text, "test");
  }

  private static <T> T idle(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, _, _) -> null));
  }

  private FileDiscovery join(long id) {
    return new FileDiscovery(root, LEASE, new InstanceId(id), InstantSource.system());
  }

  private <T extends AutoCloseable> T opened(T part) {
    opened.add(part);
    return part;
  }

  @AfterEach
  void close() throws Exception {
    for (var part : opened.reversed()) {
      part.close();
    }
    timer.shutdownNow();
    threads.shutdownNow();
  }

  private static int[] prompt(int slot) {
    return IntStream.range(0, PROMPT_TOKENS).map(i -> 1000 * (slot + 1) + i).toArray();
  }

  /** One process of a worker, which holds the prompt of its slot. */
  private final class Worker {
    final int slot;
    final long id;
    private final Discovery discovery;
    private final long publisher;
    private Discovery.@Nullable Handle instance;
    private Discovery.@Nullable Handle card;

    Worker(int slot, long id, long publisher) {
      this.slot = slot;
      this.id = id;
      this.publisher = publisher;
      this.discovery = join(id);
      publishers.put(publisher, this);
      showCard();
      showInstance();
      discovery.register(
          new KvEventSource(ENDPOINT, rank(), publisher, at(KvEventSource.queryEndpoint(publisher)))
              .toRecord());
    }

    private WorkerRank rank() {
      return new WorkerRank(new InstanceId(id), 0);
    }

    private Instance at(String endpoint) {
      return new Instance(
          new EndpointId(ENDPOINT.namespace(), ENDPOINT.component(), endpoint),
          new InstanceId(id),
          new TransportAddress.Tcp("127.0.0.1:1", Long.toHexString(id) + "/" + endpoint),
          "cpu",
          PayloadFormat.MSGPACK);
    }

    void showInstance() {
      if (instance == null) {
        instance = discovery.register(at(ENDPOINT.name()));
      }
    }

    void hideInstance() {
      if (instance != null) {
        instance.close();
        instance = null;
      }
    }

    void showCard() {
      if (card == null) {
        card = discovery.register(record());
      }
    }

    void hideCard() {
      if (card != null) {
        card.close();
        card = null;
      }
    }

    private ModelRecord record() {
      return new ModelRecord(ENDPOINT, new InstanceId(id), CARD, null);
    }

    KvReply dump() {
      var hashes = BlockHashes.of(prompt(slot), BLOCK_TOKENS);
      var blocks = new ArrayList<StoredBlock>();
      for (int i = 0; i < hashes.length(); i++) {
        blocks.add(
            new StoredBlock(new SequenceHash(hashes.sequence(i)), new BlockHash(hashes.block(i))));
      }
      return new KvReply.TreeDump(
          List.of(new RankEvent(rank(), new KvEvent.Stored(1, null, blocks))), 1);
    }

    void stop() {
      publishers.remove(publisher);
      discovery.close();
    }
  }

  private CompletableFuture<KvReply> ask(Instance target, KvQuery query) {
    for (var entry : publishers.entrySet()) {
      if (target.endpoint().name().equals(KvEventSource.queryEndpoint(entry.getKey()))) {
        return CompletableFuture.completedFuture(entry.getValue().dump());
      }
    }
    return CompletableFuture.failedFuture(new IllegalStateException("nobody answers " + query));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4}) // the seed names the failing run
  void servedModelsMatchDiscovery(long seed) throws Exception {
    var frontend = opened(join(0xf));
    var alarms = Alarms.on(timer);
    var status =
        new SystemStatus(
            new SystemHealth(settings.status(), alarms, Runnable::run, System::nanoTime));
    var events =
        opened(
            new LocalEventPlane(1000, 1 << 20, metrics, new Random(seed), InstantSource.system()));
    var runtime =
        new DynamoRuntime(
            settings,
            metrics,
            frontend,
            new Planes(
                LOOPS,
                idle(EndpointClient.class),
                idle(EndpointServer.class),
                events,
                idle(RawStreams.class),
                idle(RegionExchange.class)),
            idle(HostMemory.class),
            status,
            threads,
            timer);
    var catalog =
        opened(
            new DiscoveryCatalog(
                frontend,
                _ -> idle(ModelText.class),
                new DiscoveryCatalog.Scope(_ -> true, Duration.ofMinutes(1)),
                runtime::instances,
                _ -> false,
                new Execution(threads, timer, InstantSource.system()),
                System::nanoTime,
                new Random(seed)::nextDouble));
    var traits = new ModelTraits();
    var recoveries = new Recoveries(this::ask, alarms, threads, () -> 0.5);
    var routers =
        opened(
            new EndpointRouters(
                "flaps",
                settings.router(),
                new RouterInputs(
                    runtime::instances,
                    traits,
                    new EventFeed(
                        events,
                        frontend,
                        KvEventCodec::encode,
                        KvEventCodec::decode,
                        recoveries,
                        alarms,
                        threads),
                    new NoIndexes(),
                    (_, _) -> idle(SharedPool.class)),
                metrics,
                new RouterClock(System::nanoTime, System::nanoTime, new Random(seed)::nextDouble)));
    opened(traits.follow(frontend, endpoint -> threads.execute(() -> routers.prepare(endpoint))));

    var random = new Random(seed);
    var running = new @Nullable Worker[SLOTS];
    var lastIds = new long[SLOTS];
    for (int step = 0; step < STEPS; step++) {
      change(random, running, lastIds);
      LockSupport.parkNanos(Duration.ofMillis(random.nextInt(60)).toNanos()); // looks in between
    }

    var shown = new ArrayList<Worker>();
    boolean served = false;
    for (var worker : running) {
      if (worker != null) {
        opened(worker::stop);
        if (worker.instance != null) {
          shown.add(worker);
          served |= worker.card != null;
        }
      }
    }
    var modelServed = served;
    var ids = new HashSet<InstanceId>();
    shown.forEach(worker -> ids.add(new InstanceId(worker.id)));
    untilHolds(
        "live instances " + ids,
        () -> {
          var live = new HashSet<InstanceId>();
          runtime.instances(ENDPOINT).live().forEach(instance -> live.add(instance.id()));
          return live.equals(ids);
        });
    untilHolds(
        "the model is served: " + modelServed, () -> catalog.find("m").isPresent() == modelServed);
    routers.prepare(ENDPOINT);
    for (int slot = 0; slot < SLOTS; slot++) {
      var of = slot;
      var worker =
          shown.stream()
              .filter(one -> one.slot == of && one.card != null) // else nobody knows what it serves
              .findFirst()
              .orElse(null);
      untilHolds(
          "the prefix of slot " + slot + " is where discovery shows it",
          () -> worker == null ? overlap(routers, of) == 0 : chosen(routers, of) == worker.id);
    }
  }

  private void change(Random random, @Nullable Worker[] running, long[] lastIds)
      throws IOException {
    int slot = random.nextInt(SLOTS);
    var worker = running[slot];
    int what = random.nextInt(8);
    if (worker == null) {
      boolean again = random.nextBoolean() && lastIds[slot] != 0;
      long id = again ? lastIds[slot] : random.nextLong();
      lastIds[slot] = id;
      running[slot] = new Worker(slot, id, random.nextLong(1L << 53));
      return;
    }
    switch (what) {
      case 0 -> worker.hideInstance();
      case 1, 2 -> worker.showInstance();
      case 3 -> worker.hideCard();
      case 4, 5 -> worker.showCard();
      case 6 -> {
        worker.stop();
        running[slot] = null;
      }
      default -> vanish(List.of("instances", "mdc", "event_sources").get(random.nextInt(3)));
    }
  }

  /** Takes a directory of the store away, as somebody who cleans up might. */
  private void vanish(String bucket) throws IOException {
    var directory = root.resolve("v1").resolve(bucket);
    try (var files = Files.list(directory)) {
      for (var file : files.toList()) {
        Files.deleteIfExists(file);
      }
      Files.delete(directory);
    } catch (NoSuchFileException | DirectoryNotEmptyException e) {
      return; // gone already, or written to again
    }
  }

  private static RouteRequest request(int slot) {
    return new RouteRequest(
        "r" + slot, WorkerSet.of(ENDPOINT, CARD), prompt(slot), BLOCK_TOKENS, Set.of());
  }

  private static long chosen(EndpointRouters routers, int slot) {
    try (var decision = routers.route(request(slot))) {
      return decision.overlapBlocks() == PROMPT_TOKENS / BLOCK_TOKENS
          ? decision.instance().id().value()
          : 0;
    } catch (NoWorkerException e) {
      return 0;
    }
  }

  private static int overlap(EndpointRouters routers, int slot) {
    try (var decision = routers.route(request(slot))) {
      return decision.overlapBlocks();
    } catch (NoWorkerException e) {
      return 0;
    }
  }

  private interface Condition {
    boolean holds();
  }

  private static void untilHolds(String what, Condition condition) {
    long begin = System.nanoTime();
    while (!condition.holds()) {
      assertThat(Duration.ofNanos(System.nanoTime() - begin)).as(what).isLessThan(PATIENCE);
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }

  /** No router here shares its index. */
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
}
