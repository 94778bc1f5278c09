/**
 * The settings of the frontend, its API and its admission. Start at {@link
 * io.dynamo.config.frontend.FrontendSettings}.
 */
@NullMarked
package io.dynamo.config.frontend;

import org.jspecify.annotations.NullMarked;
