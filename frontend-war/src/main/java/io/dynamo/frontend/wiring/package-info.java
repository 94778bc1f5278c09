/**
 * Puts the frontend together and starts its role. Start at {@link
 * io.dynamo.frontend.wiring.FrontendListener}.
 */
@NullMarked
package io.dynamo.frontend.wiring;

import org.jspecify.annotations.NullMarked;
