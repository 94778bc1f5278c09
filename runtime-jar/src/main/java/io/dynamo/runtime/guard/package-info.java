/**
 * The rules for using administrative routes, on the HTTP port and on the status server. Start at
 * {@link io.dynamo.runtime.guard.AdminGuard}. Knows no routes.
 */
@NullMarked
package io.dynamo.runtime.guard;

import org.jspecify.annotations.NullMarked;
