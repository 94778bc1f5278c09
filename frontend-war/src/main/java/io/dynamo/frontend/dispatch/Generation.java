package io.dynamo.frontend.dispatch;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.Instance;
import io.dynamo.error.CancelledException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Migratable;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.RoutingHints;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteDecision;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * One generation across its legs. A leg is one worker's part, or that of a decode worker together
 * with the prefill worker that computes its prompt; when it is lost, the tokens so far become
 * prompt, the budget shrinks by them, and the next leg continues, so that the subscriber sees one
 * unbroken stream.
 *
 * <p>Legs never overlap: a leg's items are delivered on the threads of its stream, the next leg
 * starts after the last one ended. Cancelling may come from any thread at any time. The subscriber
 * is called under a lock, so it must not request items while it holds one of its own.
 */
public final class Generation {
  private static final String MIGRATION_LINK = "migration_link"; // Dynamo's; names the lost leg

  /** The header with the session that a request belongs to; in lower case, as headers travel. */
  public static final String SESSION_HEADER = "x-dynamo-session-id";

  private static final int MAX_RESTARTS = 3; // of a leg, with another set's prefill workers

  private final RequestContext context;
  private final WorkerCalls workers;
  private final LegWatch watch;
  private final Executor
      starter; // its threads end with their task: planes leave thread locals behind
  private final RouteTrace trace;
  private final Flow.Subscriber<? super EngineOutput> downstream;

  private final Arbiter arbiter = new Arbiter();
  private final Object delivery = new Object(); // held while the subscriber is called
  private boolean ended; // guarded by delivery; the subscriber got its end, or cancelled
  private volatile @Nullable CompletableFuture<Void> running; // of the current leg
  private volatile @Nullable RouteDecision decision; // of the current leg

  // Written by the current leg; legs hand over through the completion of their stage.
  private final Progress progress;
  private final WorkerChoice choice;
  private int restarts; // of the current leg
  private @Nullable Migratable lastLoss;

  Generation(
      GenerateRequest request,
      RequestContext context,
      WorkerChoice choice,
      WorkerCalls workers,
      MigrationRules migration,
      LegWatch watch,
      Executor starter,
      RouteTrace trace,
      Flow.Subscriber<? super EngineOutput> downstream) {
    this.context = context;
    this.choice = choice;
    this.workers = workers;
    this.progress = new Progress(request, migration);
    this.watch = watch;
    this.starter = starter;
    this.trace = trace;
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
    restarts = 0;
    starter.execute(() -> start(end));
    return end;
  }

  private void start(CompletableFuture<Void> end) {
    var left = progress.impliedFinishReason();
    if (isKilled()) {
      end.complete(null);
    } else if (left != null) {
      deliver(EngineOutput.finish(left, null), end);
    } else {
      guard(end, () -> startParts(end));
    }
  }

  private boolean isKilled() {
    return context.cancellation().level() == Cancellation.Level.KILL;
  }

  /** Runs a step of a leg; on these threads an exception would be lost. */
  private void guard(CompletableFuture<Void> end, Runnable step) {
    try {
      step.run();
    } catch (NoWorkerException e) {
      var loss = lastLoss;
      end.completeExceptionally(loss == null ? e : loss);
    } catch (RuntimeException | Error e) {
      closeDecision();
      end.completeExceptionally(e);
    }
  }

  /** Starts the only worker's part, or the prefill worker's with the decode worker's to follow. */
  private void startParts(CompletableFuture<Void> end) {
    var prefill = choice.prefill(progress.rest());
    if (prefill == null) {
      generate(null, Handoff.NONE, end);
      return;
    }
    trace.addPrefill(prefill.decision());
    var paired = choice.model();
    prefill.call(workers, context.leg(watch.prefillStarts(prefill.decision())));
    prefill.end().whenComplete((_, failure) -> watch.prefillEnds(failure));
    prefill
        .outcome()
        .whenCompleteAsync(
            (outcome, failure) ->
                guard(end, () -> startDecode(prefill, paired, outcome, failure, end)),
            starter);
  }

  /** Starts the decode call of a leg after its prefill is ready or has failed. */
  private void startDecode(
      RemotePrefill prefill,
      ServedModel paired,
      RemotePrefill.@Nullable Outcome outcome,
      @Nullable Throwable failure,
      CompletableFuture<Void> end) {
    switch (outcome) {
      case null -> fails(Objects.requireNonNull(failure), prefill.instance(), end);
      case RemotePrefill.Outcome.Answered(var item) -> deliver(item, end);
      case RemotePrefill.Outcome.Ready(var handoff) -> {
        boolean called = false;
        try {
          called = !isKilled() && generate(prefill, handoff, end);
        } finally {
          if (!called) {
            prefill.cancel(); // nobody fetches its blocks
          }
        }
        if (isKilled()) {
          end.complete(null);
        } else if (!called) { // the decode workers of paired are gone; a leg of another set begins
          if (restarts++ == MAX_RESTARTS) {
            throw new NoWorkerException(paired.workers().endpoint(), 0, choice.failures());
          }
          start(end);
        }
      }
    }
  }

  /**
   * Calls the worker that generates.
   *
   * @return false when it was not called, because it belongs to another set than the prefill
   */
  private boolean generate(
      @Nullable RemotePrefill prefill, Handoff handoff, CompletableFuture<Void> end) {
    var before = choice.model();
    var rest = prefill == null ? progress.rest() : prefill.decoding(progress.rest(), handoff);
    var chosen = watch.routed(() -> choice.next(rest));
    decision = chosen;
    if (prefill != null && !choice.model().equals(before)) {
      closeDecision();
      return false;
    }
    if (isKilled()) {
      closeDecision(); // raised while the router chose, when there was no decision to close
      end.complete(null);
      return true;
    }
    trace.add(chosen, choice.queued());
    var asked =
        rest.routedTo(new RoutingHints(chosen.rank().rank(), rest.routing().passedOn()))
            .annotated(RemotePrefill.BYPASS, prefill == null && choice.areDecoders());
    if (choice.hasMoved()) {
      asked = asked.forCard(choice.model().checksum());
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
        .subscribe(new Leg(chosen, prefill, leg.cancellation(), end));
    return true;
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

  /** Delivers the last item of a generation that needs no other worker. */
  private void deliver(EngineOutput last, CompletableFuture<Void> end) {
    var rest = new ItemStream<EngineOutput>(1, () -> {}, () -> {});
    rest.subscribe(new Leg(null, null, null, end));
    rest.offer(last);
    rest.complete();
  }

  /** Ends a leg that one of its workers failed: another may follow. */
  private void fails(Throwable cause, Instance at, CompletableFuture<Void> end) {
    if (!(cause instanceof Migratable loss)) {
      end.completeExceptionally(cause);
      return;
    }
    watch.lost();
    lastLoss = loss;
    choice.failed(at);
    if (!(loss instanceof WorkerBusyException)) {
      workers.setAside(at.endpoint(), at.id());
    }
    if (context.cancellation().isCancelled() || !mayMove()) {
      end.completeExceptionally(loss);
      return;
    }
    progress.lost();
    end.completeExceptionally(new LegLostException(loss));
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
  void end(@Nullable Throwable failure) {
    watch.end(failure, progress.tokens());
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
    private final @Nullable RemotePrefill prefill;
    private final @Nullable Cancellation own; // null for a leg without a worker
    private final CompletableFuture<Void> end;
    private volatile boolean first = true; // written by the stream's threads
    private volatile @Nullable Throwable prefillFailure;
    private @Nullable String engineError;

    Leg(
        @Nullable RouteDecision booked,
        @Nullable RemotePrefill prefill,
        @Nullable Cancellation own,
        CompletableFuture<Void> end) {
      this.booked = booked;
      this.prefill = prefill;
      this.own = own;
      this.end = end;
    }

    /** Ends a leg that waits for blocks which will not come; one that has tokens has had them. */
    private void prefillEnded(@Nullable Throwable failure) {
      var decoding = own;
      if (failure != null && first && decoding != null) {
        prefillFailure = failure;
        decoding.kill();
      }
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      arbiter.switchTo(subscription);
      if (prefill != null) {
        prefill.end().whenComplete((_, failure) -> prefillEnded(failure));
      }
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
      var error = engineError;
      var unfetched = prefillFailure;
      if (unfetched != null && !progress.isFinished() && !context.cancellation().isCancelled()) {
        onError(unfetched);
        return;
      }
      leave(null);
      if (error != null) {
        end.completeExceptionally(
            new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, error, null));
        return;
      }
      var from = booked;
      if (from != null && !progress.isFinished() && !context.cancellation().isCancelled()) {
        watch.unfinished(from.instance().id()); // as in Dynamo: a retry would repeat the text
      }
      complete();
      end.complete(null);
    }

    @Override
    public void onError(Throwable cause) {
      var unfetched = prefillFailure;
      boolean finished = progress.isFinished();
      leave(finished ? null : cause);
      if (finished) {
        complete();
        end.complete(null);
      } else if (unfetched != null) {
        fails(unfetched, Objects.requireNonNull(prefill).instance(), end);
      } else if (booked != null) {
        fails(cause, booked.instance(), end);
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
      if (prefill != null && failure != null) {
        prefill.cancel();
      }
    }
  }
}
