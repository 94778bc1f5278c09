package io.dynamo.router.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.event.zmq.ZmqRawStreams;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.pipeline.EventLoops;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a pool with Mooncake itself: objects that its clients put are found, and removed ones are
 * not.
 */
@Timeout(120)
class MooncakeMasterTest {
  private static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");
  private static final WorkerSet WORKERS = new WorkerSet(ENDPOINT, "m", null, null, 16);
  private static final HicacheCapture.Card CARD = HicacheCapture.card("prefixed");
  private static final Duration PATIENCE = Duration.ofSeconds(40);

  @TempDir private Path folder;
  private final Metrics metrics = new Metrics();

  @BeforeEach
  void needsMooncake() {
    MooncakePeer.assumeThere();
  }

  private static int found(SharedPool pool) {
    return pool.find(HicacheCapture.tokens(), 16).total();
  }

  private static void awaitFound(SharedPool pool, int blocks) {
    long begun = System.nanoTime();
    while (found(pool) != blocks) {
      assertThat(System.nanoTime() - begun)
          .as("%d blocks where there are %d", found(pool), blocks)
          .isLessThan(PATIENCE.toNanos());
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }

  private static void put(MooncakePeer client, int page) throws Exception {
    for (var key : CARD.keys().get(page)) {
      client.tell("put", key);
    }
  }

  /** Puts and removes the first page until its events arrive, as a subscription takes its time. */
  private static void greet(MooncakePeer client, SharedPool pool) throws Exception {
    long begun = System.nanoTime();
    do {
      assertThat(System.nanoTime() - begun).isLessThan(PATIENCE.toNanos());
      client.tell("clear", "");
      put(client, 0);
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
    } while (found(pool) != 1);
  }

  @Test
  void objectsAreFoundUntilRemovedOrTheMasterIsLost() throws Exception {
    int port = MooncakePeer.freePort();
    int events = MooncakePeer.freePort();
    try (var loops = new EventLoops(1);
        var streams =
            new ZmqRawStreams(
                new EventSettings(
                    EventSettings.Plane.LOCAL,
                    "127.0.0.1",
                    null,
                    1000,
                    1 << 20,
                    1000,
                    1 << 20,
                    null),
                loops);
        var pool =
            new HicachePools(_ -> List.of(CARD.card()), streams, metrics, "r")
                .open(WORKERS, "tcp://127.0.0.1:" + events)) {
      try (var master = MooncakePeer.master(folder, port, events);
          var client = MooncakePeer.client(folder, port)) {
        assertThat(master).isNotNull();
        greet(client, pool);
        put(client, 2);
        awaitFound(pool, 2);
        put(client, 1);
        awaitFound(pool, 3);
        client.tell("remove", CARD.keys().get(1).get(3));
        awaitFound(pool, 2);
        client.tell("put", CARD.keys().get(1).get(3));
        awaitFound(pool, 3);
        client.tell("clear", "");
        awaitFound(pool, 0);
        put(client, 0);
        awaitFound(pool, 1);
      }
      awaitFound(pool, 0);
      assertThat(
              metrics
                  .counter(RouterMetrics.SHARED_CACHE_ERRORS, new Label("router_id", "r"))
                  .value())
          .isPositive();
      try (var master = MooncakePeer.master(folder, port, events);
          var client = MooncakePeer.client(folder, port)) {
        assertThat(master).isNotNull();
        greet(client, pool);
        put(client, 1);
        awaitFound(pool, 2);
      }
    }
  }
}
