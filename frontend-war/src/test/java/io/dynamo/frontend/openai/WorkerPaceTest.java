package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.catalog.PlayedDiscovery;
import io.dynamo.frontend.openai.ScriptedWorkers.Leg;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.PrometheusText;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests record their token times in the gauges of the workers that served them. */
class WorkerPaceTest {
  private final FrontendFixture frontend = new FrontendFixture();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ScriptedWorkers workers = new ScriptedWorkers();
  private final PrometheusText text = new PrometheusText();

  WorkerPaceTest() {
    frontend.through = workers.dispatcher(frontend.metrics, timer);
    frontend.metrics.attach(text);
    var discovery = new PlayedDiscovery();
    frontend.workers.follow(discovery);
    var card = frontend.models().getFirst().card();
    for (long id : List.of(1L, 2L)) {
      discovery.add(
          new ModelRecord(
              new EndpointId("dynamo", "script", "generate"), new InstanceId(id), card, null));
    }
  }

  @AfterEach
  void close() {
    timer.shutdownNow();
    frontend.close();
  }

  private static List<EngineOutput> says(String text) {
    return text.codePoints().mapToObj(EngineOutput::ofTokens).toList();
  }

  private double last(String what, int worker) {
    var line =
        Pattern.compile(
                "dynamo_frontend_worker_last_%s\\{dp_rank=\"0\",worker_id=\"%d\",worker_type=\"decode\"} (\\S+)"
                    .formatted(what, worker))
            .matcher(text.write());
    return line.find() ? Double.parseDouble(line.group(1)) : -1;
  }

  @Test
  void tokenTimesAreRecordedForTheServingWorker() {
    workers.plays("", new Leg(says("ab"), true));
    assertThat(frontend.post(Samples.hi("")).status).isEqualTo(200);
    assertThat(last("time_to_first_token_seconds", 1)).isPositive();
    assertThat(last("input_sequence_tokens", 1)).isEqualTo(frontend.promptTokens);
    assertThat(last("inter_token_latency_seconds", 1)).isNotNegative();
    assertThat(last("time_to_first_token_seconds", 2)).as("served nothing").isEqualTo(-1);

    workers.plays("", new Leg(List.of(), false), new Leg(says("cd"), true));
    assertThat(frontend.post(Samples.hi("")).status).isEqualTo(200);
    assertThat(last("time_to_first_token_seconds", 2)).as("took it up").isPositive();
  }

  @Test
  void theLoadIsTheRoutersOfTheMoment() {
    frontend.loads.blocks = 3;
    frontend.loads.prefillTokens = 40;
    assertThat(text.write())
        .contains(
            "dynamo_frontend_worker_active_decode_blocks{dp_rank=\"0\",worker_id=\"2\",worker_type=\"decode\"}"
                + " 3\n")
        .contains(
            "dynamo_frontend_worker_active_prefill_tokens{dp_rank=\"0\",worker_id=\"1\",worker_type=\"decode\"}"
                + " 40\n");
  }
}
