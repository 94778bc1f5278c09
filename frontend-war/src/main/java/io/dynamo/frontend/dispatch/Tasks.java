package io.dynamo.frontend.dispatch;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;

/** Asks workers that take whole bodies. Safe for concurrent use; blocks its caller. */
public interface Tasks {
  /**
   * Returns the answer of one worker; another is asked when it is lost. Its numbers are finite.
   *
   * @throws io.dynamo.error.DynamoException when no worker answers, the request is refused or
   *     cancelled, or its deadline passes
   */
  TaskOutput run(ServedModel model, BodyTask request, RequestContext context)
      throws InterruptedException;
}
