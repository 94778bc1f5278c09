/**
 * From token ids to text, and from text to messages: incremental detokenising, stop strings, tool
 * calls and thoughts. Start at {@link io.dynamo.frontend.postprocess.TextAssembler} and {@link
 * io.dynamo.frontend.postprocess.MessageGrammar}.
 */
@NullMarked
package io.dynamo.frontend.postprocess;

import org.jspecify.annotations.NullMarked;
