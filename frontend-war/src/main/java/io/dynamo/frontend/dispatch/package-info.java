/**
 * From a request to a stream of tokens that outlives workers: routing, legs, migration. Start at
 * {@link io.dynamo.frontend.dispatch.Dispatcher}.
 */
@NullMarked
package io.dynamo.frontend.dispatch;

import org.jspecify.annotations.NullMarked;
