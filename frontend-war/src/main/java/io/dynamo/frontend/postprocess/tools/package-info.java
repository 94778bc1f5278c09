/**
 * Finds tool calls in generated text, one parser for each grammar that models use. Start at {@link
 * io.dynamo.frontend.postprocess.tools.ToolFamily}. Knows nothing of HTTP.
 */
@NullMarked
package io.dynamo.frontend.postprocess.tools;

import org.jspecify.annotations.NullMarked;
