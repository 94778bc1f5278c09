/**
 * Byte-level byte-pair encoding, as GPT-2 began it and most models use it: a text is split into
 * pieces by a pattern, a piece's bytes are merged pair by pair. Only for tokenizers whose rules are
 * known here to the letter; others are the library's.
 */
@NullMarked
package io.dynamo.frontend.preprocess.bpe;

import org.jspecify.annotations.NullMarked;
