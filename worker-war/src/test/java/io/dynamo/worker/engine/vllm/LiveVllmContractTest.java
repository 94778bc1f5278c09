package io.dynamo.worker.engine.vllm;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvEventSink;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.BeforeAll;

/** Runs the contract over a real vLLM, which draws at random where a request has no temperature. */
class LiveVllmContractTest extends EngineContract {
  @BeforeAll
  static void requireServer() {
    var _ = LiveVllm.address();
  }

  @Override
  protected Engine newEngine() {
    return new Greedy(LiveVllm.engine());
  }

  /** Asks for the likeliest tokens. */
  private record Greedy(Engine engine) implements Engine {
    @Override
    public EngineDescription start(KvEventSink events) {
      return engine.start(events);
    }

    @Override
    public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
      var greedy =
          new SamplingOptions(
              null, 0f, null, null, null, null, null, null, null, null, null, PassedOn.NONE);
      return engine.generate(
          new GenerateRequest(
              request.model(),
              request.tokenIds(),
              request.stop(),
              greedy,
              request.output(),
              request.eosTokenIds(),
              request.cardChecksum(),
              request.annotations(),
              request.routing(),
              request.extraArgs()),
          context);
    }

    @Override
    public int running() {
      return engine.running();
    }

    @Override
    public void close() {
      engine.close();
    }
  }
}
