/**
 * The event plane: topics, publishers, subscriptions; delivery is at most once and never blocks a
 * publisher. Start at {@link io.dynamo.event.EventPlane}.
 */
@NullMarked
package io.dynamo.event;

import org.jspecify.annotations.NullMarked;
