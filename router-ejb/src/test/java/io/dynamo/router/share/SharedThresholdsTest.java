package io.dynamo.router.share;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.router.RouterSettings.Busy;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.discovery.store.KeyValueStore;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Routers of several servers on one store. */
class SharedThresholdsTest {
  private static final String PLACE = "dynamo/backend/generate/aggregated/tiny";
  private static final BucketName BUCKET = new BucketName("v1/busy_thresholds");

  private final MemoryStore store = new MemoryStore();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Server> servers = new ArrayList<>();

  /** A server with its router. */
  private final class Server {
    final MemoryDiscovery discovery =
        new MemoryDiscovery(store, new InstanceId(servers.size() + 1));
    final BlockingQueue<Map.Entry<String, Busy>> set = new LinkedBlockingQueue<>();
    final SharedThresholds thresholds =
        new SharedThresholds(
            discovery.store(),
            (place, busy) -> set.add(Map.entry(place, busy)),
            threads,
            threads::execute);

    /** The next thresholds of a place; a router may hear the same twice. */
    Busy awaitSet(String place) throws InterruptedException {
      var next = next(set);
      while (!next.getKey().equals(place)) {
        next = next(set);
      }
      return next.getValue();
    }

    Bucket bucket() {
      return discovery.store().bucket(BUCKET);
    }

    void stop() {
      thresholds.close();
      discovery.close();
    }
  }

  private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
    var next = queue.poll(20, TimeUnit.SECONDS);
    assertThat(next).as("comes in time").isNotNull();
    return Objects.requireNonNull(next);
  }

  private Server start() {
    var server = new Server();
    servers.add(server);
    return server;
  }

  @AfterEach
  void stopAll() {
    servers.forEach(Server::stop);
    threads.shutdownNow();
  }

  private static Busy tokens(Busy before, long tokens) {
    return new Busy(before.decodeBlocks(), tokens, before.prefillTokensFraction());
  }

  @Test
  void thresholdsThatAreSetAtOneServerHoldAtAllAndAtLaterOnes() throws InterruptedException {
    var a = start();
    var b = start();
    assertThat(a.thresholds.change(PLACE, Busy.STANDARD, it -> tokens(it, 5)))
        .isEqualTo(new Busy(null, 5L, null));
    var expected = Map.entry(PLACE, new Busy(null, 5L, null));
    assertThat(next(a.set)).isEqualTo(expected);
    assertThat(next(b.set)).isEqualTo(expected);
    assertThat(next(start().set)).isEqualTo(expected);
    assertThat(b.bucket().get(PLACE).orElseThrow().value())
        .asString()
        .isEqualTo(
            "{\"active_decode_blocks_threshold\":null,\"active_prefill_tokens_threshold\":5,\"active_prefill_tokens_threshold_frac\":null}");
  }

  @Test
  void aChangeKeepsTheThresholdsThatOthersHaveSet() {
    var a = start();
    var b = start();
    var configured = new Busy(0.9, null, null);
    a.thresholds.change(PLACE, configured, it -> tokens(it, 5));
    assertThat(
            b.thresholds.change(
                PLACE, configured, it -> new Busy(it.decodeBlocks(), it.prefillTokens(), 2.0)))
        .isEqualTo(new Busy(0.9, 5L, 2.0));
  }

  @Test
  void aSettingOutlivesTheServerWhereItWasMade() throws InterruptedException {
    var a = start();
    var b = start();
    a.thresholds.change(PLACE, Busy.STANDARD, it -> tokens(it, 5));
    assertThat(next(b.set).getValue()).isEqualTo(new Busy(null, 5L, null));
    var states = new LinkedBlockingQueue<Map<String, Bucket.Entry>>();
    Discovery.Handle watch = b.bucket().watch(states::add);
    assertThat(next(states)).containsOnlyKeys(PLACE);

    a.stop();

    var state = next(states);
    while (state.isEmpty()) {
      state = next(states);
    }
    watch.close();
    assertThat(next(start().set).getValue()).isEqualTo(new Busy(null, 5L, null));
  }

  @Test
  void aValueThatIsNoThresholdsIsSkippedAndReplaced() throws InterruptedException {
    var a = start();
    for (var value :
        List.of(
            "no",
            "[]",
            "{\"active_decode_blocks_threshold\":1.5}",
            "{\"active_decode_blocks_threshold\":\"x\"}")) {
      var place = PLACE + Integer.toHexString(value.hashCode());
      assertThat(a.bucket().create(place, value.getBytes(UTF_8))).isPresent();
      assertThat(a.thresholds.change(place, Busy.STANDARD, it -> tokens(it, 5)))
          .as(value)
          .isEqualTo(new Busy(null, 5L, null));
      assertThat(a.awaitSet(place)).isEqualTo(new Busy(null, 5L, null));
    }
  }

  /** A store in which another router writes and is heard before a replacement returns. */
  private static final class Overtaken implements KeyValueStore {
    private final KeyValueStore store;
    private final Runnable other;

    Overtaken(KeyValueStore store, Runnable other) {
      this.store = store;
      this.other = other;
    }

    @Override
    public Bucket bucket(BucketName name) {
      var bucket = store.bucket(name);
      return (Bucket)
          Proxy.newProxyInstance(
              Bucket.class.getClassLoader(),
              new Class<?>[] {Bucket.class},
              (_, method, arguments) -> {
                var result = method.invoke(bucket, arguments);
                if (method.getName().equals("replace")) {
                  other.run();
                }
                return result;
              });
    }
  }

  @Test
  void aWriteThatIsOvertakenBeforeItReturnsDoesNotReplaceTheLaterOne() throws InterruptedException {
    var b = start();
    b.thresholds.change(PLACE, Busy.STANDARD, it -> tokens(it, 1));
    var set = new LinkedBlockingQueue<Busy>();
    Runnable overtake =
        () -> {
          b.thresholds.change(PLACE, Busy.STANDARD, it -> tokens(it, 7));
          try {
            while (!Long.valueOf(7).equals(next(set).prefillTokens())) {}
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        };
    try (var a =
        new SharedThresholds(
            new Overtaken(b.discovery.store(), overtake),
            (_, busy) -> set.add(busy),
            threads,
            threads::execute)) {
      assertThat(next(set).prefillTokens()).isEqualTo(1);

      assertThat(a.change(PLACE, Busy.STANDARD, it -> tokens(it, 5)).prefillTokens()).isEqualTo(5);

      assertThat(set) // the later thresholds may be applied once for each of two events
          .as("thresholds set after the 7")
          .allMatch(busy -> Long.valueOf(7).equals(busy.prefillTokens()));
    }
  }

  @Test
  void aChangeThatOthersOvertakeAgainAndAgainIsGivenUp() {
    var a = start();
    a.thresholds.change(PLACE, Busy.STANDARD, it -> tokens(it, 0));
    assertThatThrownBy(
            () ->
                a.thresholds.change(
                    PLACE,
                    Busy.STANDARD,
                    it -> {
                      var there = a.bucket().get(PLACE).orElseThrow();
                      var _ = a.bucket().replace(PLACE, there.value(), there.revision());
                      return tokens(it, 7);
                    }))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("were changed by others 8 times meanwhile");
  }
}
