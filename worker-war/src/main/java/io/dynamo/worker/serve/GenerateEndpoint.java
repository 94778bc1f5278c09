package io.dynamo.worker.serve;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.NamedRank;
import java.util.concurrent.Flow;

/** Answers requests with the engine's streams, guarded. Safe for concurrent use; never blocks. */
public final class GenerateEndpoint implements EndpointHandler<GenerateRequest, EngineOutput> {
  private final Engine engine;
  private final EngineDescription limits;
  private final EngineGuard guard;

  /**
   * @param engine a started engine
   * @param limits the description that it returned at its start
   * @param guard the guard that was started for it
   */
  public GenerateEndpoint(Engine engine, EngineDescription limits, EngineGuard guard) {
    this.engine = engine;
    this.limits = limits;
    this.guard = guard;
  }

  @Override
  public Flow.Publisher<EngineOutput> handle(GenerateRequest request, RequestContext context) {
    check(request);
    Flow.Publisher<EngineOutput> answer;
    try {
      answer = engine.generate(request, context);
    } catch (RuntimeException failure) {
      throw guard.refused(request, failure);
    }
    return guard.guard(answer, request, context);
  }

  private void check(GenerateRequest request) {
    var _ = NamedRank.of(request.routing().rank(), limits.ranks());
    int prompt = request.tokenIds().length;
    if (prompt == 0) {
      throw new InvalidRequestException("the prompt has no tokens");
    }
    var asked = request.stop().maxTokens();
    int budget = asked == null ? 1 : asked;
    if (budget < 0) {
      throw new InvalidRequestException("max_tokens " + budget + " is negative");
    }
    if ((long) prompt + budget > limits.contextLength()) {
      throw new InvalidRequestException(
          "%d prompt tokens and %d to generate exceed the context of %d tokens"
              .formatted(prompt, budget, limits.contextLength()));
    }
  }
}
