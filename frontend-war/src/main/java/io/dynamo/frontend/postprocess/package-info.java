/**
 * From token ids to text: incremental detokenising and stop strings. Start at {@link
 * io.dynamo.frontend.postprocess.TextAssembler}.
 */
@NullMarked
package io.dynamo.frontend.postprocess;

import org.jspecify.annotations.NullMarked;
