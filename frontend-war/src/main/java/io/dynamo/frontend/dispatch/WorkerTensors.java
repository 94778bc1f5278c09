package io.dynamo.frontend.dispatch;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Asks one worker after the other, each chosen by the router, until one answers. The router knows
 * no tokens of these requests: it counts them, and chooses by load. Safe for concurrent use.
 */
public final class WorkerTensors implements Tensors {
  private static final int[] NO_TOKENS = {};

  private final WorkerAnswers<TensorRequest, TensorResponse> answers;

  /**
   * @param retries workers that may be asked after the first is lost
   * @param timer for tasks that never wait
   */
  public WorkerTensors(
      KvRouter router, TensorCalls workers, int retries, ScheduledExecutorService timer) {
    answers = new WorkerAnswers<>(router, workers::call, workers::setAside, retries, timer);
  }

  @Override
  public AnswerItems<TensorResponse> open(
      ServedModel model, TensorRequest request, RequestContext context) {
    return answers.open(model, request, NO_TOKENS, context, WorkerTensors::requireWhole);
  }

  /** Refuses an answer whose tensors do not have as many elements as their shapes say. */
  static void requireWhole(TensorResponse response) {
    for (var tensor : response.tensors()) {
      var elements = Tensor.elements(tensor.shape());
      if (elements.isEmpty() || elements.getAsLong() != tensor.data().count()) {
        throw new EngineFailedException(
            ErrorCode.BACKEND_UNKNOWN,
            "the worker's answer has a tensor of the shape %s with %d elements"
                .formatted(tensor.shape(), tensor.data().count()),
            null);
      }
    }
  }
}
