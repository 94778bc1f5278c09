package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * A frontend and its workers under honest and hostile load for {@code -Ddynamo.soak.minutes}, a
 * worker killed and replaced every two minutes: no honest request is lost or wrong, their p99 stays
 * below three times that of the quiet part (which has the kills, too, but no hostile load), and
 * memory, threads, descriptors and logs stay flat. {@code .ci/soak} runs it.
 */
class Soak {
  private static final System.Logger LOG = System.getLogger(Soak.class.getName());
  private static final Duration LENGTH =
      Duration.ofMinutes(Integer.getInteger("dynamo.soak.minutes", 120));
  private static final Path REPORT =
      Path.of(System.getProperty("dynamo.it.work")).resolve("soak-report");
  private static final int WORKERS = 2;
  private static final int TOKENS = 32;
  private static final double HONEST_SHARE = 0.35; // of the capacity; the hostile come on top
  private static final Duration KILL_EVERY = Duration.ofMinutes(2);
  private static final Duration SAMPLE = Duration.ofSeconds(10);
  private static final double FLAT = 1.15; // last quarter over second quarter
  private static final int MEGABYTE = 1 << 20;
  private static final long LOG_BOUND = 200L * MEGABYTE; // five files of 20 MB each for two logs
  private static final String FLOOD = "flood";

  private static Cluster.Plan plan() {
    return Cluster.Plan.of("soak", WORKERS)
        .models(2)
        .worker(
            Map.of(
                "DYNAMO_WORKER_MODELS", Cluster.MODEL + "," + FLOOD,
                "DYNAMO_WORKER_TOKEN_INTERVAL", "5ms",
                "DYNAMO_WORKER_MODELS_FLOOD_TOKEN_INTERVAL", "0s",
                "DYNAMO_WORKER_PREFILL_PER_TOKEN", "0s"));
  }

  @Test
  void honestRequestsSurviveHostileOnes() throws Exception {
    var oracle = OracleText.ofShippedModel();
    try (var cluster = plan().start();
        var load = new HonestLoad(cluster.frontend(), oracle, TOKENS)) {
      load.capacity(16, 20); // warms up
      double rate = HONEST_SHARE * load.capacity(32, 20);
      load.takeTimes();
      var quiet =
          LENGTH.dividedBy(10).compareTo(KILL_EVERY) > 0 ? LENGTH.dividedBy(10) : KILL_EVERY;
      var record = new SoakRecord(cluster.frontend());
      double quietP99 = part(cluster, load, rate, quiet, record);
      LOG.log(Level.INFO, "%.1f requests/s, quiet p99 %.1f ms".formatted(rate, quietP99));
      double p99;
      try (var requests = new HostileRequests(cluster.frontend().port());
          var _ = new Abuse.Resets(cluster.frontend(), 50, FLOOD);
          var _ = Abuse.neverReading(cluster.frontend(), 16, FLOOD);
          var _ = new Abuse.Uploads(cluster.frontend(), 32)) {
        p99 = part(cluster, load, rate, LENGTH.minus(quiet), record);
        LOG.log(Level.INFO, "answers to hostile requests: " + requests.answers());
        assertThat(requests.faults()).isEmpty();
      } finally {
        record.write(REPORT);
      }
      LOG.log(Level.INFO, "hostile p99 %.1f ms, quiet %.1f ms".formatted(p99, quietP99));
      assertThat(load.failures()).as("honest requests that failed").isEmpty();
      assertThat(p99).isLessThan(3 * quietP99);
      assertFlat(record);
    }
  }

  /** Load and kills for a while; returns the p99 of the honest requests in milliseconds. */
  private static double part(
      Cluster cluster, HonestLoad load, double rate, Duration length, SoakRecord record)
      throws Exception {
    long end = System.nanoTime() + length.toNanos();
    var over = new AtomicBoolean();
    var times = new ArrayList<long[]>();
    var killer =
        CompletableFuture.runAsync(
            () -> killWorkers(cluster, end), task -> Thread.ofPlatform().start(task));
    var sampler =
        CompletableFuture.runAsync(
            () -> {
              while (!over.get()) {
                LockSupport.parkNanos(SAMPLE.toNanos());
                var window = load.takeTimes();
                times.add(window);
                try {
                  LOG.log(Level.INFO, record.add(p99(window)).toString());
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              }
            },
            task -> Thread.ofPlatform().start(task));
    load.run(rate, end);
    over.set(true);
    sampler.join();
    killer.join();
    return p99(times.stream().flatMapToLong(Arrays::stream).sorted().toArray());
  }

  private static void killWorkers(Cluster cluster, long end) {
    for (int turn = 0; ; turn++) {
      long due = System.nanoTime() + KILL_EVERY.toNanos() / 2;
      if (due > end) {
        return;
      }
      LockSupport.parkNanos(due - System.nanoTime());
      cluster.replaceWorker(turn % WORKERS); // kill -9, then another in its place
      LockSupport.parkNanos(due + KILL_EVERY.toNanos() / 2 - System.nanoTime());
    }
  }

  private static double p99(long[] sorted) {
    return sorted.length == 0 ? 0 : sorted[(int) (sorted.length * 0.99)] / 1e6;
  }

  private static void assertFlat(SoakRecord record) {
    assertThat(record.mean(0.75, 1, SoakRecord.Sample::residentMegabytes))
        .as("resident memory")
        .isLessThan(FLAT * record.mean(0.25, 0.5, SoakRecord.Sample::residentMegabytes));
    assertThat(record.mean(0.75, 1, SoakRecord.Sample::threads))
        .as("threads")
        .isLessThan(FLAT * record.mean(0.25, 0.5, SoakRecord.Sample::threads) + 5);
    assertThat(record.mean(0.75, 1, SoakRecord.Sample::descriptors))
        .as("descriptors")
        .isLessThan(FLAT * record.mean(0.25, 0.5, SoakRecord.Sample::descriptors) + 20);
    assertThat((double) record.logGrowth(0.75, 1))
        .as("growth of the logs")
        .isLessThan(FLAT * record.logGrowth(0.25, 0.5) + MEGABYTE);
    assertThat(record.logGrowth(0, 1)).as("logs, which rotate").isLessThan(LOG_BOUND);
  }
}
