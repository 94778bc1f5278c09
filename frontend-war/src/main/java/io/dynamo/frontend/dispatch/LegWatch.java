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
 * Observes the legs of one generation: records a span for the whole, a span for each leg, linked to
 * the leg that it continues, and how long migrations took. Safe for concurrent use: a kill ends the
 * whole while a leg may still be starting or delivering; after {@link #end} no new leg is recorded.
 */
final class LegWatch {
  private final ServedModel model;
  private final RequestContext context;
  private final DispatchMetrics metrics;
  private final Stages stages;
  private final Span whole;
  private Span leg = Span.NONE; // this and all below: guarded by this
  private Stages.@Nullable Measurement dispatching;
  private Span prefill = Span.NONE;
  private @Nullable TraceContext before; // the lost leg
  private boolean awaitsItem;
  private long lostAt; // in nanoseconds; of the last loss
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

  /** Returns the span of the leg that was lost last; null when none was, or nothing is traced. */
  synchronized @Nullable TraceContext link() {
    return before;
  }

  /** Notes that a prefill is sent to its worker; returns the headers to send with it. */
  synchronized Map<String, String> prefillStarts(RouteDecision chosen) {
    if (isOver) {
      return context.headers();
    }
    prefill =
        stages
            .span("prefill", Tracing.Kind.CLIENT, whole.context(), Tracing.Start.NOW)
            .put("dynamo.worker_id", chosen.instance().id().hex())
            .put("dynamo.dp_rank", chosen.rank().rank());
    var own = prefill.context();
    return own == null ? context.headers() : own.in(context.headers());
  }

  /** Notes the end of a prefill; {@code failure} is its cause, null for none. */
  synchronized void prefillEnds(@Nullable Throwable failure) {
    if (failure != null) {
      prefill.fail(DynamoException.kindOf(failure));
    }
    prefill.end();
  }

  /** Notes that a leg is sent to its worker; returns the headers to send with it. */
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

  /** Notes the arrival of an item. */
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

  /** Notes the end of a leg; {@code failure} is its cause, null for none. */
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

  /** Notes the loss of a leg. */
  synchronized void lost() {
    before = leg.context();
    migrationEnds(Outcome.FAILURE);
    lostAt = System.nanoTime();
  }

  /** Notes that another leg continues the lost one. */
  synchronized void migrated(boolean ongoing) {
    isMigrating = true;
    isOngoing = ongoing;
    metrics.migrated(model.name(), ongoing);
  }

  /** Notes that the generation is too long to migrate. */
  void tooLong() {
    metrics.tooLong(model.name());
  }

  /** Notes that a worker has ended its stream properly, but without a finish reason. */
  void unfinished(InstanceId worker) {
    metrics.unfinished(model.name(), worker);
  }

  /** Records the end of a migration in progress. Called with the lock. */
  private void migrationEnds(Outcome outcome) {
    if (isMigrating) {
      isMigrating = false;
      metrics.migrationEnded(
          model.name(), isOngoing, outcome, Math.max(0, System.nanoTime() - lostAt));
    }
  }

  /** Notes that all legs have ended. */
  synchronized void end(@Nullable Throwable failure, int tokens) {
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
