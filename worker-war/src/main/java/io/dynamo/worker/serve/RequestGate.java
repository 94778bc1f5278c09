package io.dynamo.worker.serve;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests while the engine is out of service and requests to a rank that is silent; probes
 * do not pass through it. Safe for concurrent use.
 */
public final class RequestGate implements EndpointHandler<GenerateRequest, EngineOutput> {
  private final EndpointHandler<GenerateRequest, EngineOutput> inside;
  private final EngineGuard guard;
  private final UnaryOperator<GenerateRequest> entry;
  private volatile @Nullable String shutBecause;

  /**
   * @param entry converts a request to the form that passes, or refuses it
   */
  public RequestGate(
      EndpointHandler<GenerateRequest, EngineOutput> inside,
      EngineGuard guard,
      UnaryOperator<GenerateRequest> entry) {
    this.inside = inside;
    this.guard = guard;
    this.entry = entry;
  }

  /** Refuses all requests from now on. */
  public void shut(String why) {
    shutBecause = why;
  }

  public void open() {
    shutBecause = null;
  }

  /**
   * {@inheritDoc}
   *
   * @throws WorkerLostException when it is shut, so that the requester tries another worker
   */
  @Override
  public Flow.Publisher<EngineOutput> handle(GenerateRequest request, RequestContext context) {
    var why = shutBecause;
    if (why != null) {
      throw new WorkerLostException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, why);
    }
    guard.requireSign(request);
    return inside.handle(entry.apply(request), context);
  }
}
