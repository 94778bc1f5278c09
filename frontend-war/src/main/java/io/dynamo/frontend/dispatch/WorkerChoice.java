package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.frontend.catalog.CompanionSets;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.ExpandedPrompt;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.kv.WorkerRank;
import io.dynamo.model.ModelCard;
import io.dynamo.request.RequestContext;
import io.dynamo.router.HintsReader;
import io.dynamo.router.KvRouter;
import io.dynamo.router.LocalPrefill;
import io.dynamo.router.QueueDepths;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RoutePhase;
import io.dynamo.router.RouteRequest;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the workers of one generation, leg after leg, and remembers which have failed it. Used by
 * one leg at a time; legs hand over safely.
 */
final class WorkerChoice {
  private static final String POLICY_CLASS = "policy-class"; // in a request's metadata

  private final RequestContext context;
  private final KvRouter router;
  private final CompanionSets sets;
  private final Set<InstanceId> failed = new HashSet<>();
  private ServedModel model;
  private boolean hasMoved;
  private @Nullable InstanceId lastFailed;
  private @Nullable WorkerRank computing; // the decode rank that computes this leg's prompt itself

  WorkerChoice(ServedModel model, RequestContext context, KvRouter router, CompanionSets sets) {
    this.model = model;
    this.context = context;
    this.router = router;
    this.sets = sets;
  }

  /** Returns the model as served by the workers that were chosen last. */
  ServedModel model() {
    return model;
  }

  /** Whether the workers belong to another set, with a card of its own, than the first. */
  boolean hasMoved() {
    return hasMoved;
  }

  /** Whether the workers are of the type that expects another worker to compute the prompt. */
  boolean areDecoders() {
    return model.workers().workerType().equals(ModelCard.DECODE);
  }

  /** Notes that a worker has failed the generation. */
  void failed(Instance worker) {
    failed.add(worker.id());
    lastFailed = worker.id();
  }

  int failures() {
    return failed.size();
  }

  /**
   * Returns the number of requests that wait for one of the workers now; 0 for a router without a
   * queue.
   */
  int queued() {
    return router instanceof QueueDepths depths ? depths.queued(model.workers()) : 0;
  }

  /** Reads the client's routing hints. */
  private RouteHints hints(GenerateRequest request, RoutePhase phase) {
    return HintsReader.read(request, phase, context.headers().get(Generation.SESSION_HEADER))
        .ofPolicyClass(context.metadata().get(POLICY_CLASS));
  }

  /**
   * Chooses the prefill worker of a leg.
   *
   * @param rest the request of the leg
   * @return null when the next worker computes the prompt itself: it is no decode worker, no
   *     prefill worker is live, or all of them have failed this generation
   */
  @Nullable RemotePrefill prefill(GenerateRequest rest) {
    computing = null;
    var prefillers = sets.prefill(model).orElse(null);
    if (prefillers == null) {
      return null;
    }
    var asked =
        request(
            prefillers.workers(),
            prefillers.card().blockTokens(),
            rest,
            failed,
            hints(rest, RoutePhase.PREFILL));
    computing = localPrefill(rest, asked);
    if (computing != null) {
      return null;
    }
    try {
      var chosen = router.route(asked);
      return new RemotePrefill(chosen, rest, prefillers.rendezvous().get(chosen.instance().id()));
    } catch (NoWorkerException e) {
      if (rest.routing().isPrefillPinned()) {
        throw e;
      }
      return null;
    }
  }

  /** Returns the decode rank that should compute the prompt itself; null when none should. */
  private @Nullable WorkerRank localPrefill(GenerateRequest rest, RouteRequest prefill) {
    return router instanceof LocalPrefill rule && !rest.routing().isPrefillPinned()
        ? rule.localPrefill(decoding(model, rest, failed, null), prefill)
        : null;
  }

  /**
   * Chooses a worker that has not failed this generation, or when there is none, one that did not
   * fail it last: a worker that failed once may only have been busy then, and the migration limit
   * bounds the retries.
   *
   * @param rest the request of the leg
   */
  RouteDecision next(GenerateRequest rest) {
    var local = computing;
    if (local != null) {
      computing = null;
      try {
        return router.route(decoding(model, rest, failed, local));
      } catch (NoWorkerException | OverloadedException _) {
        // that rank has gone or become busy meanwhile: any other does as well
      }
    }
    try {
      return next(rest, failed);
    } catch (NoWorkerException e) {
      var last = lastFailed;
      if (failed.size() < 2 || last == null) {
        throw e;
      }
      failed.retainAll(Set.of(last));
      return next(rest, failed);
    }
  }

  /** Chooses a worker of the set that served last, or of another set when it has none left. */
  private RouteDecision next(GenerateRequest rest, Set<InstanceId> excluded) {
    try {
      return of(model, rest, excluded);
    } catch (NoWorkerException | OverloadedException e) {
      if (rest.routing().isPinned()) {
        throw e;
      }
      for (var other : sets.successors(model)) {
        var decision = ofAnother(other, rest, excluded);
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
  private @Nullable RouteDecision ofAnother(
      ServedModel other, GenerateRequest rest, Set<InstanceId> excluded) {
    if (!hasRoom(other, rest)) {
      return null;
    }
    try {
      var decision = of(other, rest, excluded);
      model = other;
      hasMoved = true;
      return decision;
    } catch (NoWorkerException | OverloadedException _) {
      return null; // the first set's refusal is the one to report
    }
  }

  /** Whether the rest of the generation fits into the context of {@code other}. */
  private boolean hasRoom(ServedModel other, GenerateRequest rest) {
    int most = other.card().contextLength();
    int own = model.card().contextLength();
    if (most == 0 || (own > 0 && own <= most)) {
      return true;
    }
    var budget = rest.stop().maxTokens();
    return (long) ExpandedPrompt.tokensOf(rest).length + (budget == null ? 1 : budget) <= most;
  }

  private RouteDecision of(ServedModel to, GenerateRequest rest, Set<InstanceId> excluded) {
    return router.route(decoding(to, rest, excluded, null));
  }

  /**
   * Asks for the worker that generates.
   *
   * @param rank the only one that may; null is any
   */
  private RouteRequest decoding(
      ServedModel to, GenerateRequest rest, Set<InstanceId> excluded, @Nullable WorkerRank rank) {
    var hints = hints(rest, RoutePhase.DECODE);
    return request(
        to.workers(),
        to.card().blockTokens(),
        rest,
        excluded,
        rank == null ? hints : hints.onRank(rank));
  }

  private RouteRequest request(
      WorkerSet to,
      int blockTokens,
      GenerateRequest rest,
      Set<InstanceId> excluded,
      RouteHints hints) {
    return new RouteRequest(
        context.id(),
        to,
        ExpandedPrompt.tokensOf(rest),
        blockTokens,
        excluded,
        hints,
        context.deadline(),
        context.cancellation());
  }
}
