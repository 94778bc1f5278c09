package io.dynamo.frontend.openai;

import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.inference.BodyTask;

/**
 * The task that a client asks for.
 *
 * @param request which says the form of the answer
 * @param task for a worker
 */
record TaskWish(TaskRequest request, BodyTask task) {}
