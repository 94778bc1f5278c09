package io.dynamo.frontend.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.TestCard;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.model.LoraAdapter;
import io.dynamo.router.BookedLoads;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkerGaugesTest implements BookedLoads {
  private static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");
  private static final EndpointId OTHER = new EndpointId("dynamo", "small", "generate");
  private static final InstanceId WORKER = new InstanceId(-1); // the largest id there is

  private final PlayedDiscovery discovery = new PlayedDiscovery();
  private final Metrics metrics = new Metrics();
  private final PrometheusText text = new PrometheusText();
  private final WorkerGauges gauges =
      new WorkerGauges(this, List.of(ENDPOINT, OTHER)::contains, metrics);
  private int blocks;
  private long prefillTokens;

  WorkerGaugesTest() {
    metrics.attach(text);
    gauges.follow(discovery);
  }

  @Override
  public int blocks(EndpointId endpoint, WorkerRank rank) {
    return endpoint.equals(OTHER) ? 1000 : blocks + rank.rank();
  }

  @Override
  public long prefillTokens(EndpointId endpoint, WorkerRank rank) {
    return prefillTokens;
  }

  private static ModelRecord record(@Nullable String type, Map<String, @Nullable Object> config) {
    var card = TestCard.named("tiny").workerType(type).runtimeConfig(config).build();
    return new ModelRecord(ENDPOINT, WORKER, card, null);
  }

  private static String line(String name, int rank, String type, String value) {
    return "dynamo_frontend_worker_%s{dp_rank=\"%d\",worker_id=\"18446744073709551615\",worker_type=\"%s\"} %s\n"
        .formatted(name, rank, type, value);
  }

  private WorkerGauges.Pace pace(int rank) {
    return Objects.requireNonNull(gauges.pace(WORKER, rank));
  }

  @Test
  void theSeriesOfAWorkerComeWithItsCardAndGoWithIt() {
    assertThat(text.write()).isEmpty();
    discovery.add(record("aggregated", Map.of()));
    blocks = 7;
    prefillTokens = 300;
    assertThat(text.write())
        .contains(line("active_decode_blocks", 0, "decode", "7"))
        .contains(line("active_prefill_tokens", 0, "decode", "300"))
        .doesNotContain("_last_");
    blocks = 0;
    assertThat(text.write()).contains(line("active_decode_blocks", 0, "decode", "0"));

    pace(0).firstToken(0.25, 12);
    pace(0).nextToken(0.5);
    pace(0).firstToken(0.125, 13);
    assertThat(text.write())
        .contains(line("last_time_to_first_token_seconds", 0, "decode", "0.125"))
        .contains(line("last_input_sequence_tokens", 0, "decode", "13"))
        .contains(line("last_inter_token_latency_seconds", 0, "decode", "0.5"));

    discovery.lose(record("aggregated", Map.of()));
    assertThat(text.write()).isEmpty();
    assertThat(gauges.pace(WORKER, 0)).isNull();
  }

  @Test
  void anAnswerThatGoesOnAfterItsWorkerWentBringsNothingBack() {
    discovery.add(record(null, Map.of()));
    var pace = pace(0);
    discovery.lose(record(null, Map.of()));
    pace.firstToken(1, 1);
    pace.nextToken(1);
    assertThat(text.write()).isEmpty();
  }

  @Test
  void aWorkerThatComesBackStartsAnew() {
    discovery.add(record(null, Map.of()));
    pace(0).firstToken(1, 1);
    discovery.lose(record(null, Map.of()));
    discovery.add(record(null, Map.of()));
    assertThat(text.write()).contains("active_decode_blocks").doesNotContain("_last_");
  }

  @Test
  void eachRankHasItsOwn() {
    discovery.add(
        record("prefill", Map.of("data_parallel_size", 2, "data_parallel_start_rank", 4)));
    assertThat(text.write())
        .contains(line("active_decode_blocks", 4, "prefill", "4"))
        .contains(line("active_decode_blocks", 5, "prefill", "5"))
        .doesNotContain("dp_rank=\"6\"");
    assertThat(gauges.pace(WORKER, 3)).isNull();
    assertThat(gauges.pace(WORKER, 6)).isNull();
    pace(5).nextToken(2);
    assertThat(text.write()).contains(line("last_inter_token_latency_seconds", 5, "prefill", "2"));
  }

  @Test
  void workersThatAreNotServedHereHaveNone() {
    var elsewhere = new EndpointId("hidden", "backend", "generate");
    discovery.add(
        new ModelRecord(elsewhere, new InstanceId(2), record(null, Map.of()).card(), null));
    assertThat(text.write()).isEmpty();
  }

  @Test
  void theCardOfAnAdapterIsNoWorker() {
    var base = record(null, Map.of());
    discovery.add(base);
    var before = text.write();
    var card = base.card().of(LoraAdapter.of("ad", 4));
    var adapter = new ModelRecord(ENDPOINT, WORKER, card, card.slug());
    discovery.add(adapter);
    discovery.lose(adapter);
    assertThat(text.write()).isEqualTo(before);
  }

  @Test
  void aWorkerWithTwoModelsHasTheLoadOfBothAndStaysUntilBothAreGone() {
    var chat = record(null, Map.of("data_parallel_size", 2));
    var small = new ModelRecord(OTHER, WORKER, record(null, Map.of()).card(), null);
    discovery.add(chat);
    discovery.add(small);
    blocks = 7;
    assertThat(text.write())
        .contains(line("active_decode_blocks", 0, "decode", "1007"))
        .contains(line("active_decode_blocks", 1, "decode", "1008"));

    discovery.lose(chat);
    assertThat(text.write()).contains(line("active_decode_blocks", 0, "decode", "1000"));
    discovery.lose(small);
    assertThat(text.write()).isEmpty();
  }
}
