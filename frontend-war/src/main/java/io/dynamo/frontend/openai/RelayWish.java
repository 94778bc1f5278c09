package io.dynamo.frontend.openai;

import io.dynamo.frontend.openai.wire.RelayedAnswer;
import io.dynamo.inference.BodyTask;

/**
 * Texts that a worker without token ids is asked for.
 *
 * @param choices how many texts there may be, over all prompts
 * @param streams whether the client gets the worker's chunks
 */
record RelayWish(RelayedAnswer.Form form, BodyTask task, int choices, boolean streams) {}
