package io.dynamo.discovery.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.event.Until;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.EtcdProcess;
import io.dynamo.testing.TestSettings;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A fleet of workers that come and go in one etcd, on fifty leases, before four frontends: none is
 * lost and none is doubled. Prints what it took. {@code -Ddynamo.test.fleet=2500} is the number of
 * workers; {@code .ci/full} runs it.
 */
@EnabledIfSystemProperty(named = "dynamo.test.fleet", matches = "\\d+")
class EtcdFleetTest {
  private static final int WORKERS = Integer.getInteger("dynamo.test.fleet", 2500);
  private static final int LEASES = 50;
  private static final int FRONTENDS = 4;
  private static final int MOVES_OF_A_LEASE = 40; // workers that go while others come
  private static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");

  @TempDir private Path folder;
  private EtcdProcess etcd;
  private final List<Discovery> opened = new ArrayList<>();
  private final AtomicLong ids = new AtomicLong(1000);
  private final Map<InstanceId, Long> registeredNanos = new ConcurrentHashMap<>();
  private final Queue<Long> lags = new ConcurrentLinkedQueue<>(); // nanoseconds

  @BeforeEach
  void startEtcd() {
    etcd = EtcdProcess.start(folder);
  }

  @AfterEach
  void closeAll() {
    opened.forEach(Discovery::close);
    etcd.close();
  }

  private Discovery open(long id) {
    var settings =
        TestSettings.with(
                Map.of(
                    "dynamo.discovery.etcd.endpoints",
                    etcd.endpoint(),
                    "dynamo.discovery.etcd.lease-ttl",
                    "60s"))
            .discovery()
            .etcd();
    var discovery = EtcdDiscovery.open(settings, new InstanceId(id), Runnable::run, new Random(id));
    opened.add(discovery);
    return discovery;
  }

  private Instance worker() {
    var id = new InstanceId(ids.incrementAndGet());
    return new Instance(
        ENDPOINT,
        id,
        new TransportAddress.Tcp("10.0.0.7:1", id.hex() + "/" + ENDPOINT),
        "cuda",
        PayloadFormat.MSGPACK);
  }

  /** The workers that one frontend knows, and the number of events that it has heard. */
  private final class View implements Consumer<DiscoveryEvent<Instance>> {
    final Set<InstanceId> live = ConcurrentHashMap.newKeySet();
    final AtomicInteger added = new AtomicInteger();
    final AtomicInteger doubled = new AtomicInteger();

    @Override
    public void accept(DiscoveryEvent<Instance> event) {
      switch (event) {
        case Added<Instance>(var instance) -> {
          added.incrementAndGet();
          lags.add(System.nanoTime() - registeredNanos.getOrDefault(instance.id(), 0L));
          doubled.addAndGet(live.add(instance.id()) ? 0 : 1);
        }
        case Lost<Instance>(var instance) -> doubled.addAndGet(live.remove(instance.id()) ? 0 : 1);
      }
    }
  }

  /** The workers on one lease, the oldest first. */
  private final class Owner {
    private record Running(InstanceId id, Discovery.Handle handle) {}

    private final Discovery discovery;
    private final Queue<Running> running = new ArrayDeque<>();

    Owner(Discovery discovery) {
      this.discovery = discovery;
    }

    void come(int count) {
      for (int i = 0; i < count; i++) {
        var worker = worker();
        registeredNanos.put(worker.id(), System.nanoTime());
        running.add(new Running(worker.id(), discovery.register(worker)));
      }
    }

    void move(int count) {
      for (int i = 0; i < count; i++) {
        come(1);
        running.remove().handle().close();
      }
    }
  }

  private static void all(List<Owner> owners, Consumer<Owner> work) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var tasks = new ArrayList<Callable<Boolean>>();
      for (var owner : owners) {
        tasks.add(
            () -> {
              work.accept(owner);
              return true;
            });
      }
      for (var done : threads.invokeAll(tasks)) {
        assertThat(done.get()).isTrue();
      }
    }
  }

  private static long heapBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static String millis(long nanos) {
    return "%,d ms".formatted(TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  private String lag(double share) {
    var sorted = lags.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(sorted);
    return millis(sorted[(int) (share * (sorted.length - 1))]);
  }

  private void awaitAll(List<View> views, List<Owner> owners) {
    var expected = new HashSet<InstanceId>();
    owners.forEach(owner -> owner.running.forEach(each -> expected.add(each.id())));
    assertThat(expected).hasSize(WORKERS);
    Until.holds(() -> views.stream().allMatch(view -> view.live.equals(expected)));
  }

  @Test
  void everyFrontendKnowsEveryWorkerThroughComingsAndGoings() throws Exception {
    var owners = new ArrayList<Owner>();
    for (int i = 0; i < LEASES; i++) {
      owners.add(new Owner(open(100 + i)));
    }
    var views = new ArrayList<View>();
    long before = heapBytes();
    for (int i = 0; i < FRONTENDS; i++) {
      var view = new View();
      open(1 + i).watch(Instance.class, view);
      views.add(view);
    }

    long begun = System.nanoTime();
    all(owners, owner -> owner.come(WORKERS / LEASES));
    long registered = System.nanoTime() - begun;
    awaitAll(views, owners);
    long known = System.nanoTime() - begun;
    long bytesEach = (heapBytes() - before) / FRONTENDS / WORKERS;
    var comings = "%s at the median, %s for 99 %%".formatted(lag(0.5), lag(0.99));
    lags.clear();

    begun = System.nanoTime();
    all(owners, owner -> owner.move(MOVES_OF_A_LEASE));
    long moved = System.nanoTime() - begun;
    awaitAll(views, owners);
    long settled = System.nanoTime() - begun;

    int moves = LEASES * MOVES_OF_A_LEASE;
    System.out.printf(
        "%d workers on %d leases: registered in %s, known to %d frontends after %s (lag %s), %d B"
            + " of heap each in a frontend with its client; %d came and as many went in %s, known"
            + " after %s (lag %s at the median, %s for 99 %%, %s at most)%n",
        WORKERS,
        LEASES,
        millis(registered),
        FRONTENDS,
        millis(known),
        comings,
        bytesEach,
        moves,
        millis(moved),
        millis(settled),
        lag(0.5),
        lag(0.99),
        lag(1));
    for (var view : views) {
      assertThat(view.doubled).as("told twice, or gone twice").hasValue(0);
      assertThat(view.added).as("comings").hasValue(WORKERS + moves);
    }
    var late = new View();
    long joined = System.nanoTime();
    open(99).watch(Instance.class, late);
    Until.holds(() -> late.live.equals(views.getFirst().live));
    System.out.printf(
        "a frontend that comes later knows them after %s%n", millis(System.nanoTime() - joined));
  }
}
