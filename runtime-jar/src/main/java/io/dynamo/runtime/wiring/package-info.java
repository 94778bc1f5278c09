/**
 * The one runtime of a server, as the container sees it: opened from the settings, produced for
 * injection, closed in reverse. Start at {@link io.dynamo.runtime.wiring.RuntimeLifecycle}.
 */
@NullMarked
package io.dynamo.runtime.wiring;

import org.jspecify.annotations.NullMarked;
