package io.dynamo.frontend.dispatch;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;

/** Connects sessions with workers that take streams of events. Safe for concurrent use. */
public interface Talks {
  /**
   * Connects a worker; returns before it answers. All numbers of its events are finite.
   *
   * @throws io.dynamo.error.DynamoException when there is no worker
   */
  AnswerItems<TaskOutput> open(ServedModel model, TalkInput input, RequestContext context);
}
