package io.dynamo.frontend.dispatch;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Asks one worker after the other, each chosen by the router, until one answers. The router knows
 * no tokens of these requests: it counts them, and chooses by load. Safe for concurrent use.
 */
public final class WorkerTasks implements Tasks {
  private static final int[] NO_TOKENS = {};

  private final WorkerAnswers<BodyTask, TaskOutput> answers;

  /**
   * @param retries workers that may be asked after the first is lost
   * @param timer for tasks that never wait
   */
  public WorkerTasks(
      KvRouter router, TaskCalls workers, int retries, ScheduledExecutorService timer) {
    answers = new WorkerAnswers<>(router, workers::call, workers::setAside, retries, timer);
  }

  @Override
  public AnswerItems<TaskOutput> open(ServedModel model, BodyTask request, RequestContext context) {
    return answers.open(model, request, NO_TOKENS, context, WorkerTasks::requireFinite);
  }

  /** Refuses numbers that JSON does not have. */
  static void requireFinite(TaskOutput output) {
    check(output.json());
  }

  private static void check(@Nullable Object value) {
    switch (value) {
      case Map<?, ?> map -> map.values().forEach(WorkerTasks::check);
      case List<?> list -> list.forEach(WorkerTasks::check);
      case Number number when !Double.isFinite(number.doubleValue()) ->
          throw new EngineFailedException(
              ErrorCode.BACKEND_UNKNOWN, "the worker's answer has the value " + number, null);
      case null, default -> {}
    }
  }
}
