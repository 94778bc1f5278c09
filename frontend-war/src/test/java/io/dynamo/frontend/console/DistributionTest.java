package io.dynamo.frontend.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.MetricNaming;
import io.dynamo.metrics.Metrics;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DistributionTest {
  private static final MetricName LATENCY =
      MetricName.histogram("dynamo_frontend_latency_seconds", "Latency", 1, 2, 4);

  private final Metrics metrics = new Metrics();
  private final MeterBoard board = new MeterBoard(MetricNaming.PLAIN);

  private Distribution of(Label... labels) {
    return board.distribution(LATENCY, labels);
  }

  @Test
  void aQuantileLiesOnALineWithinItsBucket() {
    metrics.attach(board);
    metrics.timer(LATENCY).record(1.5, 4); // all in the bucket from 1 to 2
    assertThat(of().quantile(0.5)).isCloseTo(1.5, within(1e-9));
    assertThat(of().quantile(1)).isCloseTo(2.0, within(1e-9));
    metrics.timer(LATENCY).record(100, 96);
    assertThat(of().quantile(0.95)).as("beyond the last bound").isEqualTo(4.0);
  }

  @Test
  void withoutValuesThereIsNoQuantile() {
    metrics.attach(board);
    assertThat(of().quantile(0.5)).isNull();
    metrics.timer(LATENCY);
    assertThat(of().quantile(0.5)).isNull();
  }

  @Test
  void onlyValuesSinceAnEarlierMomentCount() {
    metrics.attach(board);
    metrics.timer(LATENCY).record(3.0, 1000);
    var earlier = of();
    metrics.timer(LATENCY).record(0.5, 10);
    var recent = of().since(earlier);
    assertThat(recent.count()).isEqualTo(10);
    assertThat(recent.quantile(0.99)).isLessThanOrEqualTo(1.0);
    assertThat(recent.sum()).isCloseTo(5.0, within(1e-9));
  }

  @Test
  void seriesWithTheLabelsAreAddedUp() {
    metrics.attach(board);
    var tiny = new Label("model", "tiny");
    metrics.timer(LATENCY, tiny, new Label("api", "chat")).record(0.5, 1);
    metrics.timer(LATENCY, tiny, new Label("api", "text")).record(0.5, 2);
    metrics.timer(LATENCY, new Label("model", "other"), new Label("api", "chat")).record(0.5, 4);
    assertThat(of(tiny).count()).isEqualTo(3);
    assertThat(of().count()).isEqualTo(7);
  }

  @Test
  void otherBucketsCannotBeAdded() {
    metrics.attach(board);
    metrics.timer(LATENCY).record(0.5, 1);
    var other = MetricName.histogram("dynamo_frontend_other_seconds", "Other", 5);
    metrics.timer(other).record(0.5, 1);
    assertThatIllegalArgumentException().isThrownBy(() -> of().plus(board.distribution(other)));
  }

  @Test
  void metersAreFoundByTheirOriginalNameWhereTheOperatorHasRenamedThem() {
    var naming = new MetricNaming("mine", Map.of());
    var renamed = new Metrics(naming);
    var reader = new MeterBoard(naming);
    renamed.attach(reader);
    renamed.timer(LATENCY).record(0.5, 1);
    assertThat(reader.distribution(LATENCY).count()).isEqualTo(1);
  }

  @Test
  void aGaugeThatIsGoneIsNotRead() {
    metrics.attach(board);
    var name = new MetricName("dynamo_frontend_level", "Level");
    metrics.gauge(name, () -> 3, new Label("model", "m"));
    assertThat(board.sum(name)).isEqualTo(3);
    metrics.removeGauge(name, new Label("model", "m"));
    assertThat(board.sum(name)).isZero();
  }
}
