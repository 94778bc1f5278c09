/**
 * The APIs of text as they are on the wire: requests read and checked, answers written. Start at
 * {@link io.dynamo.frontend.openai.wire.GenerationReader}, which has what chat and completions
 * share, and {@link io.dynamo.frontend.openai.wire.AnswerFormat}. Texts of refusals are Dynamo's
 * where it has one. Knows nothing of HTTP or of workers.
 */
@NullMarked
package io.dynamo.frontend.openai.wire;

import org.jspecify.annotations.NullMarked;
