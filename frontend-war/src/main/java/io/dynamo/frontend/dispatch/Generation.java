package io.dynamo.frontend.dispatch;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Migratable;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.RoutingHints;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelCardSum;
import io.dynamo.request.RequestContext;
import io.dynamo.router.HintsReader;
import io.dynamo.router.KvRouter;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RoutePhase;
import io.dynamo.router.RouteRequest;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * One generation across its legs. A leg is one worker's part; when it is lost, the tokens so far
 * become prompt, the budget shrinks by them, and the next leg continues, so that the subscriber
 * sees one unbroken stream.
 *
 * <p>Legs never overlap: a leg's items are delivered on the threads of its stream, the next leg
 * starts after the last one ended. Cancelling may come from any thread at any time. The subscriber
 * is called under a lock, so it must not request items while it holds one of its own.
 */
public final class Generation {
  private static final String MIGRATION_LINK = "migration_link"; // Dynamo's; names the lost leg
  private static final String POLICY_CLASS = "policy-class"; // in a request's metadata

  /** The header with the session that a request belongs to; in lower case, as headers travel. */
  public static final String SESSION_HEADER = "x-dynamo-session-id";

  private static final String WHOLE = "x-bypass-remote-prefill"; // Dynamo's name: no remote prefill

  private final GenerateRequest request;
  private final RequestContext context;
  private final KvRouter router;
  private final WorkerCalls workers;
  private final LegWatch watch;
  private final Executor
      starter; // its threads end with their task: planes leave thread locals behind
  private final RouteTrace trail;
  private final Flow.Subscriber<? super EngineOutput> downstream;

  private final Arbiter arbiter = new Arbiter();
  private final Object delivery = new Object(); // held while the subscriber is called
  private boolean ended; // guarded by delivery; the subscriber got its end, or cancelled
  private volatile @Nullable CompletableFuture<Void> running; // of the current leg
  private volatile @Nullable RouteDecision decision; // of the current leg

  // Written by the current leg; legs hand over through the completion of their stage.
  private final Progress progress;
  private ServedModel model; // as served by the leg's workers
  private final SetSuccessors successors;
  private final Set<InstanceId> failed = new HashSet<>();
  private boolean hasMoved; // to a set with a card of its own
  private @Nullable InstanceId lastFailed;
  private @Nullable Migratable lastLoss;

  Generation(
      ServedModel model,
      GenerateRequest request,
      RequestContext context,
      KvRouter router,
      WorkerCalls workers,
      SetSuccessors successors,
      MigrationRules migration,
      LegWatch watch,
      Executor starter,
      RouteTrace trail,
      Flow.Subscriber<? super EngineOutput> downstream) {
    this.model = model;
    this.request = request;
    this.context = context;
    this.router = router;
    this.workers = workers;
    this.successors = successors;
    this.progress = new Progress(request, migration);
    this.watch = watch;
    this.starter = starter;
    this.trail = trail;
    this.downstream = downstream;
  }

  /** Passes the subscriber its subscription, and registers for the request's own cancellation. */
  Cancellation.Registration open() {
    downstream.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long count) {
            if (count <= 0) {
              fail(
                  new IllegalArgumentException(
                      "a demand of " + count + " is not positive (Reactive Streams 3.9)"));
              context.cancellation().kill();
            } else {
              arbiter.request(count);
            }
          }

          @Override
          public void cancel() {
            synchronized (delivery) {
              ended = true;
            }
            context.cancellation().kill();
          }
        });
    return context.cancellation().onCancel(this::onCancel);
  }

  private void onCancel(Cancellation.Level level) {
    if (level == Cancellation.Level.KILL) {
      arbiter.cancel();
      closeDecision();
      fail(new CancelledException("the request was cancelled"));
      var leg = running;
      if (leg != null) {
        leg.complete(null);
      }
    }
  }

  /**
   * Starts the next leg.
   *
   * @return completes when the leg has ended; with {@link LegLostException} when another may follow
   */
  CompletionStage<Void> startLeg() {
    if (progress.takesUp()) { // a retry after a lost leg
      watch.migrated(progress.tokens() > 0);
    }
    var end = new CompletableFuture<Void>();
    running = end;
    starter.execute(() -> start(end));
    return end;
  }

  private void start(CompletableFuture<Void> end) {
    if (context.cancellation().level() == Cancellation.Level.KILL) {
      end.complete(null);
      return;
    }
    var left = progress.outcomeAlready();
    if (left != null) {
      resumeAtTheEnd(left, end);
      return;
    }
    try {
      var chosen = watch.routed(this::route);
      decision = chosen;
      if (context.cancellation().level() == Cancellation.Level.KILL) {
        closeDecision(); // raised while the router chose, when there was no decision to close
        end.complete(null);
        return;
      }
      trail.add(chosen, LegDispatcher.queued(router, model));
      var asked =
          progress
              .rest()
              .routedTo(new RoutingHints(chosen.rank().rank(), request.routing().passedOn()))
              .annotated(WHOLE, isDecoder(model));
      if (hasMoved) {
        asked = asked.forCard(ModelCardSum.of(model.card()));
      }
      var link = watch.link();
      var leg = context.leg(watch.legStarts(chosen));
      workers
          .call(
              chosen.instance(),
              link == null
                  ? asked
                  : asked.passing(
                      MIGRATION_LINK, Map.of("trace_id", link.traceId(), "span_id", link.spanId())),
              leg)
          .subscribe(new Leg(chosen, leg.cancellation(), end));
    } catch (NoWorkerException e) {
      var loss = lastLoss;
      end.completeExceptionally(loss == null ? e : loss);
    } catch (RuntimeException | Error e) { // on this thread the exception would be lost
      closeDecision();
      end.completeExceptionally(e);
    }
  }

  /**
   * Chooses a worker that has not failed this generation, or when there is none, one that did not
   * fail it last: a worker that failed once may only have been busy then, and the migration limit
   * bounds the retries.
   */
  private RouteDecision route() {
    try {
      return route(failed);
    } catch (NoWorkerException e) {
      var last = lastFailed;
      if (failed.size() < 2 || last == null) {
        throw e;
      }
      failed.retainAll(Set.of(last));
      return route(failed);
    }
  }

  /** Chooses a worker of the set that served last, or of another set when it has none left. */
  private RouteDecision route(Set<InstanceId> excluded) {
    try {
      return route(model, excluded);
    } catch (NoWorkerException | OverloadedException e) {
      if (request.routing().isPinned()) {
        throw e;
      }
      for (var other : successors.of(model)) {
        var decision = routeTo(other, excluded);
        if (decision != null) {
          return decision;
        }
      }
      throw e;
    }
  }

  /**
   * Chooses a worker of another set, which serves from then on; returns null when none can take the
   * rest.
   */
  private @Nullable RouteDecision routeTo(ServedModel other, Set<InstanceId> excluded) {
    if (!hasRoom(other)) {
      return null;
    }
    try {
      var decision = route(other, excluded);
      model = other;
      hasMoved = true;
      return decision;
    } catch (NoWorkerException | OverloadedException _) {
      return null; // the first set's refusal is the one to report
    }
  }

  /** Whether the rest of the generation fits into the context of {@code other}. */
  private boolean hasRoom(ServedModel other) {
    int most = other.card().contextLength();
    int own = model.card().contextLength();
    if (most == 0 || (own > 0 && own <= most)) {
      return true;
    }
    var rest = progress.rest();
    var budget = rest.stop().maxTokens();
    return (long) rest.tokenIds().length + (budget == null ? 1 : budget) <= most;
  }

  private static boolean isDecoder(ServedModel model) {
    return model.workers().workerType().equals(ModelCard.DECODE);
  }

  private RouteDecision route(ServedModel to, Set<InstanceId> excluded) {
    return router.route(
        new RouteRequest(
            context.id(),
            to.workers(),
            progress.rest().tokenIds(),
            to.card().blockTokens(),
            excluded,
            hints(request, context),
            context.deadline(),
            context.cancellation()));
  }

  /** Reads the client's routing hints in {@code request} and its context. */
  static RouteHints hints(GenerateRequest request, RequestContext context) {
    return HintsReader.read(request, RoutePhase.DECODE, context.headers().get(SESSION_HEADER))
        .ofPolicyClass(context.metadata().get(POLICY_CLASS));
  }

  private boolean mayMove() {
    if (!progress.mayMove()) {
      return false;
    }
    if (progress.isTooLong()) {
      watch.tooLong();
      return false;
    }
    return true;
  }

  private void resumeAtTheEnd(FinishReason reason, CompletableFuture<Void> end) {
    var rest = new ItemStream<EngineOutput>(1, () -> {}, () -> {});
    rest.subscribe(new Leg(null, null, end));
    rest.offer(EngineOutput.finish(reason, null));
    rest.complete();
  }

  /** Ends the subscriber's stream with {@code cause}, once. */
  void fail(Throwable cause) {
    synchronized (delivery) {
      if (!ended) {
        ended = true;
        downstream.onError(cause);
      }
    }
  }

  private void complete() {
    synchronized (delivery) {
      if (!ended) {
        ended = true;
        downstream.onComplete();
      }
    }
  }

  /** Notes that all legs have ended, with {@code failure} or without one. */
  void over(@Nullable Throwable failure) {
    watch.over(failure, progress.tokens());
  }

  /** Releases the router's booking of the current leg. */
  private void closeDecision() {
    var booked = decision;
    if (booked != null) {
      booked.close();
    }
  }

  private final class Leg implements Flow.Subscriber<EngineOutput> {
    private final @Nullable RouteDecision booked;
    private final @Nullable Cancellation own; // null for a leg without a worker
    private final CompletableFuture<Void> end;
    private boolean first = true;
    private @Nullable String engineError;

    Leg(@Nullable RouteDecision booked, @Nullable Cancellation own, CompletableFuture<Void> end) {
      this.booked = booked;
      this.own = own;
      this.end = end;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      arbiter.switchTo(subscription);
    }

    @Override
    public void onNext(EngineOutput item) {
      if (first) {
        watch.item();
      }
      if (booked != null && item.tokenIds().length > 0) {
        if (first) {
          first = false;
          booked.prefillDone();
        }
        booked.generated(item.tokenIds().length);
      }
      if (item.finishReason() == FinishReason.ERROR) {
        engineError = Objects.requireNonNullElse(item.errorMessage(), "the engine gave no reason");
        return;
      }
      progress.delivers(item);
      arbiter.delivered();
      synchronized (delivery) {
        if (!ended) {
          downstream.onNext(progress.counted(item));
        }
      }
    }

    @Override
    public void onComplete() {
      leave(null);
      var error = engineError;
      if (error != null) {
        end.completeExceptionally(
            new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, error, null));
      } else if (progress.isFinished() || context.cancellation().isCancelled()) {
        complete();
        end.complete(null);
      } else { // the worker's own choice, as in Dynamo: a retry would repeat the text
        var from = booked;
        if (from != null) {
          watch.unfinished(from.instance().id());
        }
        complete();
        end.complete(null);
      }
    }

    @Override
    public void onError(Throwable cause) {
      leave(progress.isFinished() ? null : cause);
      if (progress.isFinished()) {
        complete();
        end.complete(null);
      } else if (cause instanceof Migratable loss) {
        lost(loss);
      } else {
        end.completeExceptionally(cause);
      }
    }

    private void leave(@Nullable Throwable failure) {
      watch.legEnds(failure);
      arbiter.release();
      if (booked != null) {
        booked.close();
      }
      if (own != null) {
        own.detach();
      }
    }

    private void lost(Migratable loss) {
      watch.lost();
      lastLoss = loss;
      var from = Objects.requireNonNull(booked);
      var worker = from.rank().worker();
      failed.add(worker);
      lastFailed = worker;
      if (!(loss instanceof WorkerBusyException)) {
        workers.setAside(from.instance().endpoint(), worker);
      }
      if (context.cancellation().isCancelled() || !mayMove()) {
        end.completeExceptionally(loss);
        return;
      }
      progress.lost();
      end.completeExceptionally(new LegLostException(loss));
    }
  }
}
