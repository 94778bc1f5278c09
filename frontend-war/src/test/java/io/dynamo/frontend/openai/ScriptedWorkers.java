package io.dynamo.frontend.openai;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.dispatch.ChosenWorker;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.LegDispatcher;
import io.dynamo.frontend.dispatch.MigrationRules;
import io.dynamo.frontend.dispatch.PlainLegs;
import io.dynamo.frontend.dispatch.WorkerCalls;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.trace.Tracing;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;

/** Workers that play legs, by the end of the request's id. */
final class ScriptedWorkers implements WorkerCalls {
  /**
   * @param ends regularly; else its worker is lost
   * @param hangs neither
   */
  record Leg(List<EngineOutput> items, boolean ends, boolean hangs) {
    Leg(List<EngineOutput> items, boolean ends) {
      this(items, ends, false);
    }
  }

  private final Map<String, Deque<Leg>> legs = new HashMap<>();
  int overlapBlocks; // of every prompt, by what the router believes
  MigrationRules rules = new MigrationRules(3);
  final List<GenerateRequest> asked = new ArrayList<>();
  final List<Map<String, String>> headers = new ArrayList<>(); // of each call
  final List<String> cancelled = new ArrayList<>();

  void plays(String text, Leg... all) {
    legs.put(text, new ArrayDeque<>(List.of(all)));
  }

  RouteDecision route(RouteRequest request) {
    var id = new InstanceId(1 + request.excluded().size());
    return new ChosenWorker(request, id, overlapBlocks, () -> {});
  }

  @Override
  public Flow.Publisher<EngineOutput> call(
      Instance instance, GenerateRequest request, RequestContext context) {
    asked.add(request);
    headers.add(context.headers());
    var text = context.id().length() > 36 ? context.id().substring(36) : "";
    var leg = legs.getOrDefault(text, new ArrayDeque<>()).poll();
    var stream = new ItemStream<EngineOutput>(256, () -> {}, () -> cancelled.add(text));
    if (leg == null || asked.size() > 100) {
      stream.fail(new WorkerLostException(ErrorCode.CANNOT_CONNECT, "refused"));
      return stream;
    }
    leg.items().forEach(stream::offer);
    if (leg.ends()) {
      stream.offer(EngineOutput.finish(FinishReason.LENGTH, new Usage(99, 1, null)));
      stream.complete();
    } else if (!leg.hangs()) {
      stream.fail(new WorkerLostException(ErrorCode.DISCONNECTED, "reset by peer"));
    }
    return stream;
  }

  @Override
  public void setAside(EndpointId endpoint, InstanceId worker) {}

  /** A dispatcher that sends to them, by {@link #rules}. */
  Dispatcher dispatcher(Metrics metrics, ScheduledExecutorService timer) {
    return dispatcher(metrics, new Stages(metrics, Tracing.OFF), timer);
  }

  /** The same, watched. */
  Dispatcher dispatcher(Metrics metrics, Stages stages, ScheduledExecutorService timer) {
    return new LegDispatcher(
        this::route,
        this,
        _ -> List.of(),
        new PlainLegs(),
        rules,
        metrics,
        stages,
        Runnable::run,
        timer);
  }
}
