/**
 * The door of the router: {@link io.dynamo.router.KvRouter} is asked where a request goes. Callers
 * see this package and none below it.
 */
@NullMarked
package io.dynamo.router;

import org.jspecify.annotations.NullMarked;
