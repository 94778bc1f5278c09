/**
 * The public interface of the router: {@link io.dynamo.router.KvRouter} chooses the worker rank
 * that serves a request; the other types report loads and explain decisions. The frontend uses this
 * package and none below it; it does not depend on {@code endpoint}, which implements it.
 */
@NullMarked
package io.dynamo.router;

import org.jspecify.annotations.NullMarked;
