package io.dynamo.worker.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.LoadSource.ServerLoad;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SglangLoadsTest {
  private FakeSglang server;
  private EngineHttp http;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeSglang();
    http =
        new EngineHttp(
            SharedLoops.LOOPS,
            "SGLang",
            server.address(),
            "setting",
            null,
            null,
            EngineHttp.MAX_BODY);
  }

  @AfterEach
  void stop() {
    http.close();
    server.close();
  }

  @Test
  void theLoadsOfTheMomentAreRead() throws Exception {
    assertThat(SglangLoads.ask(http, 1)).containsExactly(new ServerLoad(0, 0, 0, null));
    server.loads =
        server
            .loads
            .replace("\"num_running_reqs\":0", "\"num_running_reqs\":5")
            .replace("\"num_waiting_reqs\":0", "\"num_waiting_reqs\":2")
            .replace("\"token_usage\":0.0", "\"token_usage\":0.25");
    assertThat(SglangLoads.ask(http, 1)).containsExactly(new ServerLoad(5, 2, 0.25, null));
  }

  @Test
  void metricsAreReadWhereThereAreNoLoads() throws Exception {
    server.loadsStatus = 404;
    assertThat(SglangLoads.ask(http, 1)).isEmpty();
    server.metrics =
        """
        sglang:num_running_reqs{dp_rank="1",model_name="tiny"} 5.0
        sglang:num_queue_reqs{dp_rank="1",model_name="tiny"} 2.0
        sglang:token_usage{dp_rank="1",model_name="tiny"} 0.25
        sglang:prompt_tokens_total{dp_rank="1",model_name="tiny"} 100.0
        sglang:generation_tokens_total{dp_rank="1",model_name="tiny"} 11.0
        """;
    assertThat(SglangLoads.ask(http, 2))
        .containsExactly(new ServerLoad(0, 0, 0, 0L), new ServerLoad(5, 2, 0.25, 111L));
  }

  @Test
  void loadsOfOtherRanksAreRefused() {
    server.loads = server.loads.replace("\"dp_rank\":0", "\"dp_rank\":1");
    assertThatThrownBy(() -> SglangLoads.ask(http, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("reports rank 1 after 0 others");
  }
}
