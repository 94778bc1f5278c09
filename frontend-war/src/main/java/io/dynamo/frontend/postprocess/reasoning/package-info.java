/**
 * Tells what a model thinks from what it answers, by family. Start at {@link
 * io.dynamo.frontend.postprocess.reasoning.ReasoningFamily}.
 */
@NullMarked
package io.dynamo.frontend.postprocess.reasoning;

import org.jspecify.annotations.NullMarked;
