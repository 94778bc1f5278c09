package io.dynamo.runtime.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.metrics.SimulationMetrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineMetricsTest {
  private static final List<Label> LABELS =
      List.of(new Label("worker_id", "7"), new Label("model_name", "m"));

  private static final String TEXT =
      """
      # HELP python_gc_objects_collected_total Objects
      # TYPE python_gc_objects_collected_total counter
      python_gc_objects_collected_total{generation="0"} 1.0
      # HELP vllm:num_requests_running Number of requests
      # TYPE vllm:num_requests_running gauge
      vllm:num_requests_running{engine="0",model_name="tiny"} 2.0
      # HELP vllm:latency_seconds Latency
      # TYPE vllm:latency_seconds histogram
      vllm:latency_seconds_bucket{le="+Inf"} 3.0
      vllm:latency_seconds_sum 0.5
      # TYPE vllm:odd gauge
      vllm:odd{} 1
      vllm:bare 4
      """;

  private final EngineMetrics metrics = new EngineMetrics();

  private String written() {
    return metrics.writeAfter("");
  }

  @Test
  void samplesOfThePrefixGetTheLabelsThatTheyLack() {
    try (var _ = metrics.add("vllm:", LABELS, () -> TEXT)) {
      assertThat(written())
          .isEqualTo(
              """
              # HELP vllm:num_requests_running Number of requests
              # TYPE vllm:num_requests_running gauge
              vllm:num_requests_running{worker_id="7",engine="0",model_name="tiny"} 2.0
              # HELP vllm:latency_seconds Latency
              # TYPE vllm:latency_seconds histogram
              vllm:latency_seconds_bucket{worker_id="7",model_name="m",le="+Inf"} 3.0
              vllm:latency_seconds_sum{worker_id="7",model_name="m"} 0.5
              # TYPE vllm:odd gauge
              vllm:odd{worker_id="7",model_name="m"} 1
              vllm:bare{worker_id="7",model_name="m"} 4
              """);
    }
    assertThat(written()).isEmpty();
  }

  @Test
  void aMetricOfTwoEnginesIsOneFamily() {
    metrics.add(
        "vllm:",
        List.of(new Label("worker_id", "1")),
        () -> "# TYPE vllm:a gauge\nvllm:a 1\n# TYPE vllm:b gauge\nvllm:b 1\n");
    metrics.add(
        "vllm:", List.of(new Label("worker_id", "2")), () -> "# TYPE vllm:a gauge\nvllm:a 2\n");
    assertThat(written())
        .isEqualTo(
            """
            # TYPE vllm:a gauge
            vllm:a{worker_id="1"} 1
            vllm:a{worker_id="2"} 2
            # TYPE vllm:b gauge
            vllm:b{worker_id="1"} 1
            """);
  }

  @Test
  void anEngineThatFailsOrFloodsDoesNotHideTheOthers() {
    metrics.add(
        "vllm:",
        LABELS,
        () -> {
          throw new IllegalStateException("gone");
        });
    metrics.add("vllm:", List.of(), () -> "vllm:flood 1\n".repeat(30_000));
    metrics.add("sglang:", List.of(), () -> "vllm:not 1\nsglang:yes 1\n");
    var written = written();
    assertThat(written.lines().filter(line -> line.startsWith("vllm:flood"))).hasSize(20_000);
    assertThat(written).endsWith("sglang:yes{} 1\n").doesNotContain("vllm:not");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "vllm:a{b=\"c} 1",
        "vllm:a{b=c} 1",
        "vllm:a{b=\"c\" 1",
        "vllm:a{b=\"c\"",
        "vllm:a{b=\"c\\",
        "vllm:a{,} 1",
        "vllm:a one",
        "vllm:a",
        "vllm:a 1 2 3",
        "vllm:a 1 # {trace=\"x\"} 1",
        "vllm:a\t1",
        "vllm:a 1 1.5",
        "vllm:a 1.2.3",
        "vllm:a e",
        "vllm:a +-1",
        "vllm:a nan",
        "vllm:a Infinity"
      })
  void aLineThatIsNoSampleDoesNotSpoilTheScrape(String line) {
    metrics.add("vllm:", LABELS, () -> line + "\nvllm:good{x=\"a\\\"} 1\"} 1e+06 1700000000000\n");
    assertThat(written())
        .isEqualTo(
            "vllm:good{worker_id=\"7\",model_name=\"m\",x=\"a\\\"} 1\"} 1e+06 1700000000000\n");
  }

  @Test
  void aLineWithoutEndIsLeftOut() {
    metrics.add("vllm:", LABELS, () -> "vllm:a{b=\"" + "c".repeat(5000) + "\"} 1\nvllm:b NaN\n");
    assertThat(written()).startsWith("vllm:b{").hasLineCount(1);
  }

  @Test
  void allSamplesOfARecordedScrapeAreKept() throws IOException {
    var recorded =
        Files.readString(
            Path.of("../worker-war/src/test/resources/golden/vllm-0.32.0/metrics.txt"));
    var text = recorded.substring(recorded.indexOf("# HELP"));
    metrics.add("vllm:", LABELS, () -> text);
    assertThat(written().lines().filter(line -> line.startsWith("vllm:")))
        .hasSize((int) text.lines().filter(line -> line.startsWith("vllm:")).count())
        .allMatch(line -> line.contains("worker_id=\"7\""));
  }

  @Test
  void aFamilyOfOurOwnTakesTheSamplesOfEngines() {
    metrics.add(
        "vllm:",
        LABELS,
        () ->
            """
            # HELP vllm:b Of the engine
            # TYPE vllm:b gauge
            vllm:b 2
            # TYPE vllm:last histogram
            vllm:last_sum 2
            # TYPE vllm:new gauge
            vllm:new 3
            """);
    var own =
        """
        # HELP dynamo_x # TYPE vllm:new gauge
        # TYPE dynamo_x gauge
        dynamo_x 1
        # HELP vllm:b Of our own
        # TYPE vllm:b gauge
        vllm:b{engine="0"} 1
        # HELP vllm:bc Another
        # TYPE vllm:bc gauge
        vllm:bc 1
        # HELP vllm:last The last
        # TYPE vllm:last histogram
        vllm:last_sum 1
        """;
    assertThat(metrics.writeAfter(own))
        .isEqualTo(
            """
            # HELP dynamo_x # TYPE vllm:new gauge
            # TYPE dynamo_x gauge
            dynamo_x 1
            # HELP vllm:b Of our own
            # TYPE vllm:b gauge
            vllm:b{engine="0"} 1
            vllm:b{worker_id="7",model_name="m"} 2
            # HELP vllm:bc Another
            # TYPE vllm:bc gauge
            vllm:bc 1
            # HELP vllm:last The last
            # TYPE vllm:last histogram
            vllm:last_sum 1
            vllm:last_sum{worker_id="7",model_name="m"} 2
            # TYPE vllm:new gauge
            vllm:new{worker_id="7",model_name="m"} 3
            """);
  }

  /** A simulated engine's metrics have names of the real one's, which stands beside it. */
  @Test
  void aSimulatedEngineBesideARealOneLeavesEachFamilyInOnePlace() throws IOException {
    var own = new PrometheusText();
    var engine = List.of(new Label("engine", "0"), new Label("model_name", "simulated"));
    own.gauge(SimulationMetrics.RUNNING, engine, () -> 1);
    own.gauge(SimulationMetrics.CACHE_USAGE, engine, () -> 0.5);
    var recorded =
        Files.readString(
            Path.of("../worker-war/src/test/resources/golden/vllm-0.32.0/metrics.txt"));
    metrics.add("vllm:", LABELS, () -> recorded.substring(recorded.indexOf("# HELP")));

    var text = metrics.writeAfter(own.write());

    var seen = new HashSet<String>();
    var current = "";
    for (var line : text.lines().toList()) {
      if (line.startsWith("# TYPE ")) {
        current = line.split(" ", 4)[2];
        assertThat(seen.add(current)).as(current).isTrue();
      } else if (!line.startsWith("#")) {
        assertThat(line).startsWith(current);
      }
    }
    assertThat(seen).hasSizeGreaterThan(20);
    for (var name : List.of(SimulationMetrics.RUNNING, SimulationMetrics.CACHE_USAGE)) {
      assertThat(text.lines().filter(line -> line.startsWith(name.name() + "{")))
          .anyMatch(line -> line.contains("model_name=\"simulated\""))
          .anyMatch(line -> line.contains("worker_id=\"7\""));
    }
  }

  @Test
  void aFamilyHasOneType() {
    metrics.add("vllm:", LABELS, () -> "# TYPE vllm:a gauge\nvllm:a 1\n");
    metrics.add("vllm:", LABELS, () -> "# TYPE vllm:a counter\nvllm:a 2\nvllm:b 1\n");
    metrics.add("vllm:", LABELS, () -> "# TYPE vllm:b gauge\n# HELP vllm:b b\nvllm:b 2\n");
    assertThat(written())
        .isEqualTo(
            """
            # TYPE vllm:a gauge
            vllm:a{worker_id="7",model_name="m"} 1
            # HELP vllm:b b
            vllm:b{worker_id="7",model_name="m"} 1
            """);
    assertThat(metrics.writeAfter("# HELP vllm:a a\n# TYPE vllm:a counter\nvllm:a 3\n"))
        .startsWith("# HELP vllm:a a\n# TYPE vllm:a counter\nvllm:a 3\n# HELP vllm:b b\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"unknown", "", "gauge gauge", "Gauge"})
  void aTypeThatIsNoneIsLeftOut(String type) {
    metrics.add("vllm:", LABELS, () -> "# TYPE vllm:a " + type + "\nvllm:a 1\n");
    assertThat(written()).startsWith("vllm:a{").hasLineCount(1);
  }
}
