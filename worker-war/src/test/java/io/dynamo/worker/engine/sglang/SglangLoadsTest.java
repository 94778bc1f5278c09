package io.dynamo.worker.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.LoadSource.ServerLoad;
import java.io.IOException;
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
  void aServerWithoutLoadsIsNamed() {
    server.loadsStatus = 404;
    assertThatThrownBy(() -> SglangLoads.ask(http, 1))
        .isInstanceOf(IOException.class)
        .hasMessage("/v1/loads answers 404");
  }

  @Test
  void loadsHaveThePlacesOfTheirRanks() throws Exception {
    server.loads =
        server
            .loads
            .replace("\"dp_rank\":0", "\"dp_rank\":1")
            .replace("\"num_running_reqs\":0", "\"num_running_reqs\":5");
    var none = new ServerLoad(0, 0, 0, null);
    assertThat(SglangLoads.ask(http, 3)).containsExactly(none, new ServerLoad(5, 0, 0, null), none);
  }

  @Test
  void loadsOfFurtherRanksAreRefused() {
    server.loads = server.loads.replace("\"dp_rank\":0", "\"dp_rank\":2");
    assertThatThrownBy(() -> SglangLoads.ask(http, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("reports rank 2 besides [], of 2");
  }
}
