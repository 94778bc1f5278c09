package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Clients that misbehave do not harm the others. Well-behaved ones ask a model that takes {@link
 * #PREFILL} for the one token of their prompt that is not cached. The others share their server and
 * all that it has, but not that model's passes: one makes a token now and then, one as fast as its
 * streams are read.
 */
@Sampled
@Isolated("its times would be those of other tests, too")
class AbuseIT {
  private static final System.Logger LOG = System.getLogger(AbuseIT.class.getName());
  private static final int IDLE_STREAMS = 2000;
  private static final int UPLOADS = 256;
  private static final int NEVER_READING = 64;
  private static final int RESETS_PER_SECOND = 1000;

  private static final Duration PREFILL = Duration.ofMillis(100);
  private static final Duration WRITE_STALL = Duration.ofSeconds(20);
  private static final Duration COUNTERS = Duration.ofSeconds(2); // carried over each second
  private static final Duration UPLOAD_TIMEOUT = Duration.ofSeconds(6);

  // client and server, and whatever else, share two cores: what the median may be late by chance
  private static final Duration NOISE = Duration.ofMillis(100);

  private static final long RESIDENT_MEGABYTES = 900; // of all roles in one process, heap of 512
  private static final long LEAKED_MEGABYTES = 32; // live after a collection, more than before

  private static final String IDLE = "idle";
  private static final String FLOOD = "flood";

  private static ServerProcess.Plan plan() {
    return ServerProcess.Plan.named("abuse")
        .with("DYNAMO_WORKER_MODELS", Cluster.MODEL + "," + IDLE + "," + FLOOD)
        .with("DYNAMO_WORKER_RANKS", "1")
        .with("DYNAMO_WORKER_MAX_RUNNING", "4096")
        .with("DYNAMO_WORKER_BLOCK_TOKENS", Integer.toString(FirstToken.BLOCK_TOKENS))
        .with("DYNAMO_WORKER_BLOCKS_PER_RANK", "80000")
        .with("DYNAMO_WORKER_BLOCK_BYTES", "64B")
        .with("DYNAMO_WORKER_PREFILL_PER_TOKEN", "0s")
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", "0s")
        .with("DYNAMO_WORKER_MODELS_TINY_PREFILL_PER_TOKEN", PREFILL.toMillis() + "ms")
        .with("DYNAMO_WORKER_MODELS_IDLE_TOKEN_INTERVAL", "10s")
        .with("DYN_ROUTER_QUEUE_THRESHOLD", "off")
        .with("DYNAMO_FRONTEND_WRITE_STALL", WRITE_STALL.toSeconds() + "s")
        .with("DYNAMO_FRONTEND_UPLOAD_TIMEOUT", UPLOAD_TIMEOUT.toSeconds() + "s");
  }

  @Test
  void misbehavingClientsDoNotKeepTheOthersWaiting() throws Exception {
    try (var server = plan().start().awaitReady()) {
      var probe = FirstToken.of(server);
      probe.median("warming up");
      var threads = JvmCensus.of(server.java());
      var before = Footprint.of(server.java());
      var quiet = new ArrayList<Duration>();
      var abused = new ArrayList<Duration>();
      quiet.add(probe.median("quiet"));

      try (var resets = new Abuse.Resets(server, RESETS_PER_SECOND, FLOOD)) {
        abused.add(probe.median("resets"));
        assertThat(resets.refused()).isZero();
      }
      try (var _ = Abuse.idleStreams(server, IDLE_STREAMS, IDLE)) {
        abused.add(probe.median("idle streams"));
        try (var _ = Abuse.neverReading(server, NEVER_READING, FLOOD)) {
          awaitStalled(server);
          abused.add(probe.median("idle streams and never reading"));
          try (var uploads = new Abuse.Uploads(server, UPLOADS);
              var resets = new Abuse.Resets(server, RESETS_PER_SECOND, FLOOD)) {
            long started = System.nanoTime();
            abused.add(probe.median("all at once"));
            LOG.log(
                Level.INFO,
                "%.0f resets a second"
                    .formatted(resets.made() * 1e9 / (System.nanoTime() - started)));
            assertThat(running(server, IDLE)).isEqualTo(IDLE_STREAMS);
            assertThat(Footprint.residentMegabytes(server.java())).isLessThan(RESIDENT_MEGABYTES);
            assertThat(uploads.statusLines()).allMatch(line -> line.startsWith("HTTP/1.1 408"));
          }
          Polling.until(
              "those that never read are given up",
              WRITE_STALL.multipliedBy(3),
              () -> running(server, FLOOD) == 0);
        }
      }
      Polling.until(
          "all is over",
          Duration.ofSeconds(20),
          () ->
              running(server, IDLE) + running(server, FLOOD) == 0
                  && running(server, Cluster.MODEL) == 0);
      ServerFacts.awaitMetric(server, "dynamo_frontend_inflight_requests", "", 0);
      ServerFacts.awaitMetric(server, "dynamo_frontend_queued_requests", "", 0);
      quiet.add(probe.median("quiet again"));

      assertLeavesNothing(server, before, threads);
      var bound = bound(quiet);
      assertThat(abused).allSatisfy(median -> assertThat(median).isLessThan(bound));
    }
  }

  /** Twice the quiet one, the slower of the two looks at it, and the noise. */
  private static Duration bound(List<Duration> quiet) {
    return quiet.stream().max(Duration::compareTo).orElseThrow().multipliedBy(2).plus(NOISE);
  }

  /** Requests of a model that its worker has. */
  private static long running(ServerProcess server, String model) throws Exception {
    var component = "dynamo_component=\"" + model + '"';
    return ServerFacts.metric(server, "dynamo_component_inflight_requests", component);
  }

  /** Waits until unread answers fill every buffer and the engine makes no more for them. */
  private static void awaitStalled(ServerProcess server) {
    var seen = new long[] {-1, System.nanoTime()};
    Polling.until(
        "never-readers stall",
        WRITE_STALL,
        () -> {
          long tokens = ServerFacts.metric(server, "dynamo_frontend_output_tokens_total", "");
          if (tokens != seen[0]) {
            seen[0] = tokens;
            seen[1] = System.nanoTime();
          }
          return System.nanoTime() - seen[1] > COUNTERS.toNanos();
        });
  }

  private static void assertLeavesNothing(ServerProcess server, Footprint before, JvmCensus threads)
      throws Exception {
    Polling.untilAsserted(
        Duration.ofSeconds(20),
        () ->
            assertThat(Footprint.sockets(server.java()))
                .isLessThanOrEqualTo(before.sockets() + 16)); // kept connections of the test
    var after = Footprint.of(server.java());
    LOG.log(Level.INFO, "before %s, after %s".formatted(before, after));
    assertThat(JvmCensus.of(server.java()).moreThreadsThan(threads)).isEmpty();
    assertThat(after.liveMegabytes()).isLessThan(before.liveMegabytes() + LEAKED_MEGABYTES);
  }
}
