package io.dynamo.frontend.dispatch;

import io.dynamo.error.DeadlineExceededException;
import io.dynamo.frontend.catalog.CompanionSets;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Dispatches generations as legs. Safe for concurrent use. */
public final class LegDispatcher implements Dispatcher {
  private final KvRouter router;
  private final WorkerCalls workers;
  private final CompanionSets sets;
  private final Legs legs;
  private final MigrationRules migration;
  private final DispatchMetrics metrics;
  private final Stages stages;
  private final Executor starter;
  private final ScheduledExecutorService timer;

  /**
   * @param sets provides successors of lost sets, and prefill sets
   * @param migration when generations may migrate
   * @param stages receives the stages of each leg
   * @param starter runs each leg's start on a separate thread
   * @param timer ends generations whose deadline has passed
   */
  public LegDispatcher(
      KvRouter router,
      WorkerCalls workers,
      CompanionSets sets,
      Legs legs,
      MigrationRules migration,
      Metrics metrics,
      Stages stages,
      Executor starter,
      ScheduledExecutorService timer) {
    this.starter = starter;
    this.router = router;
    this.workers = workers;
    this.sets = sets;
    this.legs = legs;
    this.migration = migration;
    this.metrics = new DispatchMetrics(metrics);
    this.stages = stages;
    this.timer = timer;
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(
      ServedModel model, GenerateRequest request, RequestContext context, RouteTrace trace) {
    return subscriber -> start(model, request, context, trace, subscriber);
  }

  @Override
  public RouteTrace route(ServedModel model, GenerateRequest request, RequestContext context) {
    var trace = new RouteTrace();
    var choice = new WorkerChoice(model, context, router, _ -> List.of());
    try (var decision = choice.next(request)) {
      trace.add(decision, choice.queued());
    }
    return trace;
  }

  private void start(
      ServedModel model,
      GenerateRequest request,
      RequestContext context,
      RouteTrace trace,
      Flow.Subscriber<? super EngineOutput> subscriber) {
    var generation =
        new Generation(
            request,
            context,
            new WorkerChoice(model, context, router, sets),
            workers,
            migration.of(model.card()),
            new LegWatch(model, context, metrics, stages),
            starter,
            trace,
            subscriber);
    var listening = generation.open();
    var deadline =
        timer.schedule(
            () -> {
              generation.fail(new DeadlineExceededException("the request's deadline has passed"));
              context.cancellation().kill();
            },
            Math.max(0, context.deadline().remainingNanos()),
            TimeUnit.NANOSECONDS);
    legs.run(generation)
        .whenComplete(
            (_, failure) -> {
              deadline.cancel(false);
              listening.close();
              generation.end(failure == null ? null : cause(failure));
              if (failure != null) {
                generation.fail(cause(failure));
              }
            });
  }

  private static Throwable cause(Throwable failure) {
    var inner =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return inner instanceof LegLostException lost ? lost.reason() : inner;
  }
}
