/** Health checks of the frontend. Start at {@link io.dynamo.frontend.health.FrontendReady}. */
@NullMarked
package io.dynamo.frontend.health;

import org.jspecify.annotations.NullMarked;
