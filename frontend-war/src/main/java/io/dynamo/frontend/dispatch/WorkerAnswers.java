package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.DynamoException;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteRequest;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Asks one worker after the other, each chosen by the router, until one gives the first item of an
 * answer. Up to there an answer leaves no state: whatever a lost worker had done is done again. A
 * worker that is lost later ends the answer. Safe for concurrent use.
 *
 * @param <Q> a request to a worker
 * @param <A> an item of its answer
 */
final class WorkerAnswers<Q, A> {
  /** Sends a request when its answer is subscribed to. */
  interface Calls<Q, A> {
    Flow.Publisher<A> call(Instance instance, Q request, RequestContext context);
  }

  private final KvRouter router;
  private final Calls<Q, A> workers;
  private final BiConsumer<EndpointId, InstanceId> setAside;
  private final int retries;
  private final ScheduledExecutorService timer;

  /**
   * @param setAside is called with a worker that was lost
   * @param retries workers that may be asked after the first is lost
   * @param timer for tasks that never wait
   */
  WorkerAnswers(
      KvRouter router,
      Calls<Q, A> workers,
      BiConsumer<EndpointId, InstanceId> setAside,
      int retries,
      ScheduledExecutorService timer) {
    this.router = router;
    this.workers = workers;
    this.setAside = setAside;
    this.retries = retries;
    this.timer = timer;
  }

  /**
   * Returns the first item of a worker's answer, and wants no other; blocks.
   *
   * @param tokens by which the router chooses the worker and counts its load; none is allowed
   * @param check refuses items
   * @throws DynamoException when no worker answers, the request is refused or cancelled, or its
   *     deadline passes
   */
  A ask(ServedModel model, Q request, int[] tokens, RequestContext context, Consumer<A> check)
      throws InterruptedException {
    try (var items = open(model, request, tokens, context, check)) {
      items.awaitFirst();
      return Objects.requireNonNull(items.poll());
    }
  }

  /**
   * Asks a worker; returns before it answers. The parameters are those of {@link #ask}.
   *
   * @throws DynamoException when there is no worker
   */
  AnswerItems<A> open(
      ServedModel model, Q request, int[] tokens, RequestContext context, Consumer<A> check) {
    var answer =
        new RetriedAnswer<>(
            new RetriedAnswer.Workers<A>() {
              @Override
              public RouteDecision choose(Set<InstanceId> failed) {
                return route(model, tokens, context, failed);
              }

              @Override
              public Flow.Publisher<A> ask(RouteDecision chosen) {
                return workers.call(chosen.instance(), request, context);
              }

              @Override
              public boolean lost(RouteDecision chosen, Migratable loss, int failures) {
                var worker = chosen.instance();
                if (!(loss instanceof WorkerBusyException)) {
                  setAside.accept(worker.endpoint(), worker.id());
                }
                return failures <= retries;
              }
            },
            context,
            check,
            timer);
    boolean asked = false;
    try {
      answer.start();
      asked = true;
      return answer;
    } finally {
      if (!asked) {
        answer.close();
      }
    }
  }

  private RouteDecision route(
      ServedModel model, int[] tokens, RequestContext context, Set<InstanceId> failed) {
    return router.route(
        new RouteRequest(
            context.id(),
            model.workers(),
            tokens,
            Math.max(1, model.card().blockTokens()), // cards of media have none
            failed,
            RouteHints.NONE,
            context.deadline(),
            context.cancellation()));
  }
}
