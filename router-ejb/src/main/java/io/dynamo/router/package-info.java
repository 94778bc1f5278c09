/**
 * The door of the router: a caller asks {@link io.dynamo.router.KvRouter} which worker rank serves
 * a request, and reads loads and explanations. The frontend sees this package and none below it; it
 * knows nothing of {@code endpoint}, which implements it.
 */
@NullMarked
package io.dynamo.router;

import org.jspecify.annotations.NullMarked;
