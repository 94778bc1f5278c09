/**
 * The event plane inside one process: for a server with all roles, and for tests. Start at {@link
 * io.dynamo.event.local.LocalEventPlane}.
 */
@NullMarked
package io.dynamo.event.local;

import org.jspecify.annotations.NullMarked;
