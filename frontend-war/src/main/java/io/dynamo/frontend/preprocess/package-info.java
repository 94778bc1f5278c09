/**
 * From messages to token ids: chat template and tokenizer of a model. Start at {@link
 * io.dynamo.frontend.preprocess.ModelText}.
 */
@NullMarked
package io.dynamo.frontend.preprocess;

import org.jspecify.annotations.NullMarked;
