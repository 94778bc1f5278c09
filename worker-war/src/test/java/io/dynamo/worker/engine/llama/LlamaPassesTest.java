package io.dynamo.worker.engine.llama;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.ForwardPass;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.HeardEvents;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.llama.math.Kernels;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Tests the reports of the engine's passes, with manual time. */
class LlamaPassesTest {
  @Test
  void aPromptIsTakenInChunksAndThenATokenAtATime() {
    var time = new ManualPacer();
    var config = new LlamaEngineConfig(1, 1, 4, 16, 64, 32, 4096);
    var passes = new ArrayList<ForwardPass>();
    try (var engine =
        new LlamaEngine(
            config, TinyModel.model(Kernels.best()), new HeapMemory(), time, () -> 42)) {
      engine.start(new HeardEvents());
      engine.reportPassesTo((rank, pass) -> passes.add(pass));
      var first =
          Collected.all(
              engine.generate(Requests.endless(Requests.prompt(1, 40), 3), Requests.context()));
      var second =
          Collected.all(
              engine.generate(Requests.endless(Requests.prompt(2, 10), 1), Requests.context()));
      time.settle();
      assertThat(first.isEnded() && second.isEnded()).isTrue();
    }
    assertThat(passes)
        .extracting(pass -> pass.scheduled().prefills())
        .containsExactly(1, 1, 0, 0, 1);
    assertThat(passes)
        .extracting(pass -> pass.scheduled().prefillTokens())
        .containsExactly(32L, 8L, 0L, 0L, 10L);
    assertThat(passes)
        .extracting(pass -> pass.scheduled().prefillKvTokens())
        .containsExactly(0L, 32L, 0L, 0L, 0L);
    assertThat(passes)
        .extracting(pass -> pass.scheduled().decodeKvTokens())
        .containsExactly(0L, 0L, 41L, 42L, 0L);
    assertThat(passes)
        .extracting(pass -> pass.queued().prefillTokens())
        .containsExactly(10L, 10L, 10L, 10L, 0L);
    assertThat(passes).allMatch(pass -> pass.seconds() > 0);
  }
}
