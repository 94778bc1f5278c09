package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.Instance;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.catalog.PrefillSet.Rendezvous;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.Handoff.Bootstrap;
import io.dynamo.inference.Handoff.PrefillResult;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteDecision;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The computation of one leg's prompt by a prefill worker, whose KV blocks the leg's decode worker
 * takes over. With a rendezvous both workers are called at once; without one the prefill worker's
 * answer says where the blocks are. Its items go to nobody else.
 *
 * <p>Called by the thread that starts the leg; the stages complete on the threads of the answer.
 */
final class RemotePrefill {
  /** The annotation by which a decode worker computes the prompt itself; Dynamo's name. */
  static final String BYPASS = "x-bypass-remote-prefill";

  private static final String PARAMS = "disaggregated_params";
  private static final String WORKER = "prefill_worker_id";
  private static final String RANK = "prefill_dp_rank";
  private static final String HOST = "bootstrap_host";
  private static final String PORT = "bootstrap_port";
  private static final String ROOM = "bootstrap_room";
  private static final String CONTEXT_ID = "ctx_request_id"; // of TensorRT-LLM

  /** The decode worker has the prompt's blocks from elsewhere: its load is the answer's alone. */
  private static final Map<String, Object> DECODE_OVERRIDE =
      Map.of("overlap_score_credit", 0.0, "assume_kv_reuse", false, "track_prefill_tokens", false);

  /** The result of the prefill step. */
  sealed interface Outcome {
    /** The decode worker can start, with {@code handoff}. */
    record Ready(Handoff handoff) implements Outcome {}

    /** The prefill worker's first item ended the generation: it is the whole answer. */
    record Answered(EngineOutput item) implements Outcome {}
  }

  private final RouteDecision chosen;
  private final GenerateRequest request; // for the prefill worker
  private final @Nullable Bootstrap bootstrap;
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private volatile @Nullable RequestContext called;

  /**
   * @param rest the request of the leg
   * @param rendezvous of the chosen worker, null when it has none
   */
  RemotePrefill(RouteDecision chosen, GenerateRequest rest, @Nullable Rendezvous rendezvous) {
    this.chosen = chosen;
    this.bootstrap = rendezvous == null ? null : meeting(rendezvous, chosen.rank().rank());
    this.request =
        routed(rest.withStop(rest.stop().withMaxTokens(1)), chosen.rank().rank())
            .withHandoff(new Handoff(null, bootstrap))
            .annotated(BYPASS, false);
  }

  /** Draws a room number; modulo the number of ranks it is the prefill worker's rank. */
  private static Bootstrap meeting(Rendezvous at, int rank) {
    long rounds = (Long.MAX_VALUE - rank) / at.ranks();
    long room = ThreadLocalRandom.current().nextLong(rounds) * at.ranks() + rank;
    return new Bootstrap(at.host(), at.port(), room, UUID.randomUUID());
  }

  /** Returns the prefill worker. */
  Instance instance() {
    return chosen.instance();
  }

  /** Returns the choice of the prefill worker. */
  RouteDecision decision() {
    return chosen;
  }

  /**
   * Sends the prompt to the prefill worker.
   *
   * @param context of this call alone; killed by {@link #cancel}
   */
  void call(WorkerCalls workers, RequestContext context) {
    called = context;
    workers.call(chosen.instance(), request, context).subscribe(new Answer());
    if (bootstrap != null) {
      outcome.complete(new Outcome.Ready(new Handoff(null, bootstrap)));
    }
  }

  /** Returns the result of the prefill step; fails when the prefill fails before there is one. */
  CompletionStage<Outcome> outcome() {
    return outcome;
  }

  /** Returns the end of the prefill worker's answer. */
  CompletionStage<Void> end() {
    return end;
  }

  /** Ends the prefill, if it still runs, and frees its booking. Idempotent. */
  void cancel() {
    chosen.close();
    var context = called;
    if (context != null) {
      context.cancellation().kill();
    }
  }

  /** Returns the request for the decode worker, without its rank. */
  GenerateRequest decoding(GenerateRequest rest, Handoff handoff) {
    return routed(rest, rest.routing().rank())
        .withHandoff(handoff)
        .passing("router_config_override", DECODE_OVERRIDE);
  }

  private GenerateRequest routed(GenerateRequest to, @Nullable Integer rank) {
    var hints = new LinkedHashMap<>(to.routing().passedOn().fields());
    hints.put(WORKER, new BigInteger(Long.toUnsignedString(chosen.rank().worker().value())));
    hints.put(RANK, chosen.rank().rank());
    return to.routedTo(new RoutingHints(rank, PassedOn.of(hints)));
  }

  private void fail(Throwable cause) {
    outcome.completeExceptionally(cause);
    end.completeExceptionally(cause);
  }

  private static EngineFailedException failure(String message) {
    return new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, message, null);
  }

  /** Reads the meeting point in a prefill worker's parameters; null when they name none. */
  private static @Nullable Bootstrap bootstrapIn(Object params) {
    return params instanceof Map<?, ?> map
            && map.get(HOST) instanceof String host
            && map.get(PORT) instanceof Number port
            && map.get(ROOM) instanceof Number room
        ? new Bootstrap(host, port.intValue(), room.longValue(), null)
        : null;
  }

  /** Whether TensorRT-LLM's parameters lack the id under which it holds the blocks. */
  private static boolean lacksContextId(Object params) {
    return params instanceof Map<?, ?> map
        && map.get(CONTEXT_ID) == null
        && (map.containsKey(CONTEXT_ID) || "context_only".equals(map.get("request_type")));
  }

  /** Reads the prefill worker's answer. */
  private final class Answer implements Flow.Subscriber<EngineOutput> {
    private boolean first = true;
    private @Nullable Object params;
    private @Nullable Integer cachedTokens;
    private @Nullable String engineError;

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      if (item.annotation() != null) {
        return;
      }
      chosen.prefillDone();
      if (item.finishReason() == FinishReason.ERROR) {
        engineError = Objects.requireNonNullElse(item.errorMessage(), "the engine gave no reason");
        return;
      }
      var usage = item.usage();
      if (usage != null && usage.cachedTokens() != null) {
        cachedTokens = usage.cachedTokens();
      }
      var found = item.passedOn().get(PARAMS);
      if (found != null && params == null) {
        params = found;
        var meeting = bootstrapIn(found);
        if (meeting != null) { // both workers must run at once
          outcome.complete(new Outcome.Ready(new Handoff(null, meeting)));
        }
      }
      var finish = item.finishReason();
      if (first && finish != null && finish != FinishReason.LENGTH) {
        outcome.complete(new Outcome.Answered(item.withPassedOn(PassedOn.NONE)));
      }
      first = false;
    }

    @Override
    public void onComplete() {
      leave();
      var error = engineError;
      var known = params;
      if (error != null) {
        fail(failure(error));
      } else if (outcome.isDone()) {
        end.complete(null);
      } else if (known == null) {
        fail(
            failure(
                "prefill worker %s sent no %s, so no decode worker can fetch its KV blocks"
                    .formatted(chosen.instance().id().hex(), PARAMS)));
      } else if (lacksContextId(known)) {
        fail(
            failure(
                "prefill worker %s sent no %s, by which its KV blocks are fetched"
                    .formatted(chosen.instance().id().hex(), CONTEXT_ID)));
      } else {
        var details = cachedTokens == null ? null : Map.of("cached_tokens", cachedTokens);
        outcome.complete(new Outcome.Ready(new Handoff(new PrefillResult(known, details), null)));
        end.complete(null);
      }
    }

    @Override
    public void onError(Throwable cause) {
      leave();
      fail(cause);
    }

    private void leave() {
      chosen.close();
      var context = called;
      if (context != null) {
        context.cancellation().detach();
      }
    }
  }
}
