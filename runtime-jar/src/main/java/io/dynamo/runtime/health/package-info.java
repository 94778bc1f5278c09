/**
 * Whether a process and its endpoints are fit to serve: states, Dynamo's rule over them, and the
 * canaries that probe silent endpoints in-process. Start at {@link
 * io.dynamo.runtime.health.SystemHealth}. Knows nothing of HTTP, discovery or engines.
 */
@NullMarked
package io.dynamo.runtime.health;

import org.jspecify.annotations.NullMarked;
