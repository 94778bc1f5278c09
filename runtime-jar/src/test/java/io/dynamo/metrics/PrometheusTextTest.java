package io.dynamo.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class PrometheusTextTest {
  private static final long MILLI = 1_000_000;

  private final Metrics metrics = new Metrics();
  private final PrometheusText text = new PrometheusText();

  PrometheusTextTest() {
    metrics.attach(text);
  }

  @Test
  void namesStayAsTheyAreAndLabelsAreSortedAndEscaped() {
    metrics
        .counter(
            new MetricName("applied", "Events\nby \\ type"),
            new Label("b", "say \"hi\"\\\n"),
            new Label("a", "1"))
        .add(3);
    metrics.gauge(new MetricName("fill", "Share"), () -> 0.25);
    metrics.gauge(new MetricName("rate", "None yet"), () -> Double.NaN);
    metrics.level(new MetricName("open", "Open")).add(-2);
    assertThat(text.write())
        .isEqualTo(
            """
            # HELP applied Events\\nby \\\\ type
            # TYPE applied counter
            applied{a="1",b="say \\"hi\\"\\\\\\n"} 3
            # HELP fill Share
            # TYPE fill gauge
            fill 0.25
            # HELP open Open
            # TYPE open gauge
            open -2
            # HELP rate None yet
            # TYPE rate gauge
            rate NaN
            """);
  }

  @Test
  void aGaugeThatIsRemovedIsGoneAndItsFamilyWithTheLast() {
    var name = new MetricName("busy", "By worker");
    metrics.gauge(name, () -> 1, new Label("worker", "1"));
    metrics.gauge(name, () -> 2, new Label("worker", "2"));
    metrics.removeGauge(name, new Label("worker", "1"));
    metrics.removeGauge(name, new Label("worker", "3"));
    assertThat(text.write()).contains("busy{worker=\"2\"} 2").doesNotContain("worker=\"1\"");
    metrics.removeGauge(name, new Label("worker", "2"));
    assertThat(text.write()).isEmpty();
    metrics.gauge(name, () -> 3, new Label("worker", "1"));
    assertThat(text.write()).contains("busy{worker=\"1\"} 3");
  }

  @Test
  void bucketsAreCumulativeAndTheirBoundsBelongToThem() {
    var timer =
        metrics.timer(
            MetricName.histogram("wait_seconds", "Waits", 0.0001, 0.5, 1), new Label("k", "v"));
    timer.record(MILLI / 10);
    timer.record(MILLI / 10 + 1);
    timer.record(1000 * MILLI);
    timer.record(2500 * MILLI);
    assertThat(text.write())
        .isEqualTo(
            """
            # HELP wait_seconds Waits
            # TYPE wait_seconds histogram
            wait_seconds_bucket{k="v",le="0.0001"} 1
            wait_seconds_bucket{k="v",le="0.5"} 2
            wait_seconds_bucket{k="v",le="1"} 3
            wait_seconds_bucket{k="v",le="+Inf"} 4
            wait_seconds_sum{k="v"} 3.500200001
            wait_seconds_count{k="v"} 4
            """);
  }

  @Test
  void countsBeforeTheOutletWasAttachedArePublished() {
    var early = new Metrics();
    early.counter(new MetricName("early_total", "Early")).add(5);
    var late = new PrometheusText();
    early.attach(late);
    assertThat(late.write()).contains("early_total 5\n");
  }

  @Test
  void oneNameHasOneTypeAndBucketsRise() {
    metrics.counter(new MetricName("x", "X"), new Label("k", "1"));
    assertThatThrownBy(() -> metrics.gauge(new MetricName("x", "X"), () -> 1, new Label("k", "2")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("x is a counter already");
    assertThatThrownBy(() -> new MetricName("x", "X", List.of(1.0, 1.0)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void labelValuesAreCleanedByDynamosRule() {
    assertThat(EndpointMetrics.labelValue("ns.child-1")).isEqualTo("ns_child_1");
    assertThat(EndpointMetrics.labelValue("7b")).isEqualTo("_7b");
    assertThat(EndpointMetrics.labelValue("__a")).isEqualTo("a");
  }
}
