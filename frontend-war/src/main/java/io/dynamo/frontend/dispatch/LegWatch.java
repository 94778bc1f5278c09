package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.DispatchMetrics.Outcome;
import io.dynamo.frontend.watch.Stage;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteDecision;
import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches the legs of one generation: a span of the whole, one of each leg that is linked to the
 * one it goes on from, and how long moving took. Safe for concurrent use: a kill ends the whole
 * while a leg still starts or speaks, and what a leg does after {@link #over} is told of no more.
 */
final class LegWatch {
  private final ServedModel model;
  private final RequestContext context;
  private final DispatchMetrics metrics;
  private final Stages stages;
  private final Span whole;
  private Span leg = Span.NONE; // this and all below: guarded by this
  private Stages.@Nullable Measurement dispatching;
  private @Nullable TraceContext before; // the leg that was lost
  private boolean awaitsItem;
  private long lostAt; // nanos, of a loss that is not made good yet
  private boolean isMigrating;
  private boolean isOngoing;
  private boolean isOver;

  LegWatch(ServedModel model, RequestContext context, DispatchMetrics metrics, Stages stages) {
    this.model = model;
    this.context = context;
    this.metrics = metrics;
    this.stages = stages;
    this.whole =
        stages.span(
            "generation",
            Tracing.Kind.INTERNAL,
            stages.parentIn(context.headers()),
            Tracing.Start.NOW);
  }

  RouteDecision routed(Supplier<RouteDecision> router) {
    try (var stage = stages.begin(Stage.ROUTE, context.id(), whole.context())) {
      var decision = router.get();
      stage.span().put("dynamo.overlap_blocks", decision.overlapBlocks());
      return decision;
    }
  }

  /** The span of the leg that was lost last; null when none was, or nothing is traced. */
  synchronized @Nullable TraceContext link() {
    return before;
  }

  /** A leg goes to its worker; returns the headers that go with it. */
  synchronized Map<String, String> legStarts(RouteDecision chosen) {
    if (isOver) {
      return context.headers();
    }
    awaitsItem = true;
    dispatching = stages.begin(Stage.DISPATCH, context.id(), null);
    leg =
        stages
            .span("leg", Tracing.Kind.CLIENT, whole.context(), Tracing.Start.after(before))
            .put("dynamo.worker_id", chosen.instance().id().hex())
            .put("dynamo.dp_rank", chosen.rank().rank());
    var own = leg.context();
    return own == null ? context.headers() : own.in(context.headers());
  }

  /** An item has come. */
  synchronized void item() {
    if (awaitsItem) {
      awaitsItem = false;
      var stage = dispatching;
      if (stage != null) {
        stage.close();
      }
      leg.event("first_item");
    }
    migrationEnds(Outcome.SUCCESS);
  }

  /** The leg is over; {@code failure} is what it broke with. */
  synchronized void legEnds(@Nullable Throwable failure) {
    var stage = dispatching;
    if (stage != null) {
      stage.abandon();
    }
    if (failure != null) {
      leg.fail(DynamoException.kindOf(failure));
    }
    leg.end();
  }

  /** The leg was lost. */
  synchronized void lost() {
    before = leg.context();
    migrationEnds(Outcome.FAILURE);
    lostAt = System.nanoTime();
  }

  /** Another leg takes up what the lost one left. */
  synchronized void migrated(boolean ongoing) {
    isMigrating = true;
    isOngoing = ongoing;
    metrics.migrated(model.name(), ongoing);
  }

  /** The generation is too long to move. */
  void tooLong() {
    metrics.tooLong(model.name());
  }

  /** A worker has ended its stream in due form, but without a finish reason. */
  void unfinished(InstanceId worker) {
    metrics.unfinished(model.name(), worker);
  }

  /** Called with the lock. */
  private void migrationEnds(Outcome outcome) {
    if (isMigrating) {
      isMigrating = false;
      metrics.migrationEnded(
          model.name(), isOngoing, outcome, Math.max(0, System.nanoTime() - lostAt));
    }
  }

  /** All legs are over. */
  synchronized void over(@Nullable Throwable failure, int tokens) {
    isOver = true;
    boolean cancelled =
        failure instanceof CancelledException || context.cancellation().isCancelled();
    migrationEnds(cancelled ? Outcome.CANCELLED : Outcome.FAILURE);
    legEnds(null);
    whole.put("dynamo.tokens", tokens);
    if (failure != null) {
      whole.fail(DynamoException.kindOf(failure));
    }
    whole.end();
  }
}
