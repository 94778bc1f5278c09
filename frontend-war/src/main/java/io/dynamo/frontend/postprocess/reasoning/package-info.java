/**
 * Separates the thoughts of a model from its answer, by family of models. Start at {@link
 * io.dynamo.frontend.postprocess.reasoning.ReasoningFamily}.
 */
@NullMarked
package io.dynamo.frontend.postprocess.reasoning;

import org.jspecify.annotations.NullMarked;
