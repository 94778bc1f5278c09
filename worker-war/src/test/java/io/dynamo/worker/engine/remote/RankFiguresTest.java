package io.dynamo.worker.engine.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RankFiguresTest {
  private static RankFigures read(String text) {
    return RankFigures.read(
        text.getBytes(StandardCharsets.UTF_8), "engine", 2, Set.of("a:b", "a:b_total"));
  }

  @Test
  void theRecordedMetricsOfVllmAreRead() {
    var names = Set.of("vllm:prompt_tokens_total", "vllm:num_requests_running");
    var figures = RankFigures.read(Recording.file("vllm-0.32.0/metrics.txt"), "engine", 1, names);
    assertThat(figures.value("vllm:prompt_tokens_total", 0)).isEqualTo(10915);
    assertThat(figures.has("vllm:num_requests_running")).isTrue();
    assertThat(figures.has("vllm:num_requests_waiting")).as("not asked for").isFalse();
  }

  @Test
  void countersOfARankAreAddedUp() {
    var figures =
        read(
            """
            # TYPE a:b_total counter
            a:b_total{engine="0",m="x} y"} 1.5
            a:b_total{engine="1"} 2 1700000000
            a:b_total{m="z",engine="1"} 3e0
            a:b_total 4
            a:bc_total{engine="0"} 100
            """);
    assertThat(figures.value("a:b_total", 0)).isEqualTo(5.5);
    assertThat(figures.value("a:b_total", 1)).isEqualTo(5);
    assertThat(figures.count("a:b_total", 0)).isEqualTo(5);
  }

  @Test
  void theGreatestGaugeOfARankCounts() {
    var figures =
        read(
            """
            a:b{engine="1",pid="7"} 2
            a:b{engine="1",pid="8"} 3
            a:b{engine="1",pid="9"} 1
            a:b{engine="1",priority="5"} 50
            a:b{engine="1",priority=""} 3
            """);
    assertThat(figures.value("a:b", 1)).isEqualTo(3);
  }

  @Test
  void aLabelIsReadByItsWholeName() {
    var figures =
        read(
            """
            a:b{xengine="0",engine="1"} 2
            a:b{my_priority="5",engine="0"} 3
            """);
    assertThat(figures.value("a:b", 1)).isEqualTo(2);
    assertThat(figures.value("a:b", 0)).isEqualTo(3);
  }

  @Test
  void linesThatAreNoFiguresAreLeftOut() {
    var figures =
        read(
            """
            a:b{engine="2"} 1
            a:b{engine="-1"} 1
            a:b{engine="x"} 1
            a:b{engine="
            a:b{engine="0"} NaN
            a:b{engine="0"} +Inf
            a:b{engine="0"}
            a:b
            }a:b{ 1
            a:b{engine="1"} -7
            """);
    assertThat(figures.value("a:b", 0)).isZero();
    assertThat(figures.count("a:b", 1)).isZero();
  }
}
