package io.dynamo.worker.serve;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.HandAlarms;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.mock.MockEngines;
import java.time.Duration;
import java.util.concurrent.Flow;

/** Tests that a guard in front of a correct engine changes nothing. */
class GuardedEngineContractTest extends EngineContract {
  @Override
  protected Engine newEngine() {
    return new Guarded(MockEngines.quick());
  }

  private static final class Guarded implements Engine {
    private final Engine engine;
    private final EngineGuard guard =
        new EngineGuard(1000, Duration.ZERO, new HandAlarms(), System::nanoTime);

    Guarded(Engine engine) {
      this.engine = engine;
    }

    @Override
    public EngineDescription start(KvEventSink events) {
      var description = engine.start(events);
      guard.start(
          description.ranks(),
          new EngineGuard.Listener() {
            @Override
            public void suspected(String why) {
              throw new AssertionError(why);
            }

            @Override
            public void failed(String why) {
              throw new AssertionError(why);
            }
          });
      return description;
    }

    @Override
    public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
      return guard.guard(engine.generate(request, context), request, context);
    }

    @Override
    public int running() {
      return engine.running();
    }

    @Override
    public void close() {
      guard.close();
      engine.close();
    }
  }
}
