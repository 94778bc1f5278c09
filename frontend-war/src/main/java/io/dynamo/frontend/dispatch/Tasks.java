package io.dynamo.frontend.dispatch;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;

/** Asks workers that take whole bodies. Safe for concurrent use. */
public interface Tasks {
  /**
   * Asks a worker; returns before it answers. All numbers of its answer are finite.
   *
   * @throws io.dynamo.error.DynamoException when there is no worker
   */
  AnswerItems<TaskOutput> open(ServedModel model, BodyTask request, RequestContext context);
}
