package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * An open console beside a cluster: what it costs the frontend while nothing happens, and what it
 * shows under load and after a worker was killed. Leaves screenshots in the folder that {@code
 * dynamo.it.screenshots} names. Run by {@code .ci/screenshots}, alone, as it measures CPU time.
 */
class WatchedConsole {
  private static final System.Logger LOG = System.getLogger(WatchedConsole.class.getName());
  private static final Path FOLDER =
      Path.of(
          System.getProperty(
              "dynamo.it.screenshots", System.getProperty("dynamo.it.work") + "/console-watched"));
  private static final int SETTLE_SECONDS = 20; // what a start still compiles
  private static final int SECONDS = 30; // of each measurement
  private static final double MOST_OF_A_CORE = 0.01;
  private static final int CLIENTS = 8;
  private static final int ANSWERS = 60; // about 8 s

  @Test
  void showsLoadAndALostWorkerAndCostsLittleMeanwhile() throws Exception {
    try (var browser = Browser.start(FOLDER);
        var cluster =
            Cluster.Plan.of("watched", 2)
                .worker(Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "20ms"))
                .start()) {
      browser.size(1440, 900);
      browser.prefer("light");
      var frontend = cluster.frontend();

      TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
      double closed = cores(frontend);
      open(browser, frontend, "overview");
      TimeUnit.SECONDS.sleep(SETTLE_SECONDS / 2); // what the page asks for once
      double watched = cores(frontend);
      LOG.log(
          System.Logger.Level.INFO,
          "an idle frontend takes {0} % of a core, {1} % with an open console",
          percent(closed),
          percent(watched));
      assertThat(watched - closed).as("of a core").isLessThan(MOST_OF_A_CORE);

      try (var load = new BalancedLoad(CLIENTS, frontend.port())) {
        load.awaitMore(ANSWERS);
        capture(browser, "load-overview");
        open(browser, frontend, "workers");
        browser.await("both workers", "return document.querySelectorAll('.worker').length === 2");
        capture(browser, "load-workers");
        cluster.worker(0).kill();
        open(browser, frontend, "overview");
        browser.await("the loss", "return document.querySelector('.notice') !== null");
        load.awaitMore(CLIENTS);
        capture(browser, "lost-overview");
        open(browser, frontend, "workers");
        browser.await("the one left", "return document.querySelectorAll('.worker').length === 1");
        capture(browser, "lost-workers");
        open(browser, frontend, "errors");
        capture(browser, "lost-errors");
        assertThat(load.end()).as("whole answers").isGreaterThan(ANSWERS);
      }
      assertThat(browser.complaints()).isEmpty();
    }
  }

  /** Returns the CPU time that a server takes for some time, in cores. */
  private static double cores(ServerProcess server) throws InterruptedException {
    long since = System.nanoTime();
    var before = cpu(server);
    TimeUnit.SECONDS.sleep(SECONDS);
    return (double) cpu(server).minus(before).toNanos() / (System.nanoTime() - since);
  }

  private static Duration cpu(ServerProcess server) {
    return server.java().info().totalCpuDuration().orElseThrow();
  }

  private static String percent(double cores) {
    return "%.2f".formatted(cores * 100);
  }

  private static void open(Browser browser, ServerProcess frontend, String view) {
    browser.go(frontend.uri("/console#" + view));
    browser.await(
        "the page is live", "return document.getElementById('contact')?.dataset.state === 'live'");
  }

  private static void capture(Browser browser, String name) throws IOException {
    var file = FOLDER.resolve(name + ".png");
    browser.screenshot(file);
    LOG.log(System.Logger.Level.INFO, "{0}", file);
  }
}
