/**
 * The bytes of each token of a model, read from its {@code tokenizer.json}. Start at {@link
 * io.dynamo.model.vocabulary.TokenTable}. Knows nothing of how text becomes tokens.
 */
@NullMarked
package io.dynamo.model.vocabulary;

import org.jspecify.annotations.NullMarked;
