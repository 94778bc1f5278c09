/**
 * The OpenAI-compatible HTTP surface: the JAX-RS application and the one error envelope of every
 * answer. Start at {@link io.dynamo.frontend.FrontendApplication}; the APIs are in the packages
 * below, which this one does not know.
 */
@NullMarked
package io.dynamo.frontend;

import org.jspecify.annotations.NullMarked;
