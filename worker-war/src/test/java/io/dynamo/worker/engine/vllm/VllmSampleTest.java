package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.model.RenderedSample;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.remote.RemoteEngine;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what the engine learns of vLLM's own rendering, by its recorded answer. */
class VllmSampleTest {
  private FakeVllm server;
  private RemoteEngine engine;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
    engine = VllmEngineContractTest.engine(server.address(), VllmEngineContractTest.SILENCE, null);
  }

  @AfterEach
  void stop() {
    engine.close();
    server.close();
  }

  @Test
  void theServersOwnRenderingIsReported() {
    assertThat(engine.renderedSample()).as("before the start").isNull();
    engine.start(EngineContract.DEAF);
    var sample = Objects.requireNonNull(engine.renderedSample());
    assertThat(sample.messages()).isEqualTo(RenderedSample.MESSAGES);
    assertThat(sample.tokenIds()).hasSize(34).startsWith(4088, 409).endsWith(330, 198);
  }

  @Test
  void withoutATemplateAtTheServerATextIsReported() {
    server.hasTemplate = false;
    server.ids = "{\"count\":2,\"max_model_len\":4096,\"tokens\":[5,6]}";
    engine.start(EngineContract.DEAF);
    assertThat(engine.renderedSample()).isEqualTo(RenderedSample.ofText(List.of(5, 6)));
  }

  @Test
  void aServerThatDoesNotRenderIsUsedAllTheSame() throws Exception {
    server.hasTemplate = false;
    engine.start(EngineContract.DEAF);
    assertThat(engine.renderedSample()).isNull();
    var prompt = new int[] {300, 337, 374};
    var got = Collected.all(engine.generate(Requests.of(prompt, 1), Requests.context())).ended();
    assertThat(got.tokens()).hasSize(1);
  }

  @Test
  void anAnswerThatIsNoListOfIdsIsNotReported() {
    server.hasTemplate = false;
    server.ids = "{\"tokens\":[\"five\"]}";
    engine.start(EngineContract.DEAF);
    assertThat(engine.renderedSample()).isNull();
  }
}
