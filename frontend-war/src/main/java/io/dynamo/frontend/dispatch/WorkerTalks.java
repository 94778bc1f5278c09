package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.BidirectionalClient;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import io.dynamo.wire.generate.BodyTaskCodec;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BiConsumer;

/** Connects sessions with workers that the router chooses, by requests that are streams. */
public final class WorkerTalks implements Talks {
  private static final int[] NO_TOKENS = {};
  private static final BodyTaskCodec CODEC = new BodyTaskCodec();

  private final WorkerAnswers<TalkInput, TaskOutput> answers;

  /**
   * @param setAside is called with a worker that was lost
   * @param retries workers that may be asked after the first is lost
   * @param timer for tasks that never wait
   */
  public WorkerTalks(
      KvRouter router,
      BidirectionalClient workers,
      BiConsumer<EndpointId, InstanceId> setAside,
      int retries,
      ScheduledExecutorService timer) {
    answers =
        new WorkerAnswers<>(
            router,
            (instance, input, context) -> {
              input.requireWhole();
              Flow.Publisher<BodyTask> events = input;
              return workers.exchange(instance, events, CODEC, context);
            },
            setAside,
            retries,
            timer);
  }

  @Override
  public AnswerItems<TaskOutput> open(ServedModel model, TalkInput input, RequestContext context) {
    return answers.open(model, input, NO_TOKENS, context, WorkerTasks::requireFinite);
  }
}
