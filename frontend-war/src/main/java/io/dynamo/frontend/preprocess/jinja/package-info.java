/**
 * The subset of Jinja that chat templates use, with the settings of {@code transformers}: {@code
 * trim_blocks}, {@code lstrip_blocks}, loop controls, no escaping, Python's spelling of values.
 * Start at {@link io.dynamo.frontend.preprocess.jinja.JinjaTemplate}. Templates see data and the
 * functions listed here, never a Java object; time, depth and output are bounded. Knows nothing of
 * models or messages.
 */
@NullMarked
package io.dynamo.frontend.preprocess.jinja;

import org.jspecify.annotations.NullMarked;
