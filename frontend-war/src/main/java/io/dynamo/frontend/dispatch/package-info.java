/**
 * Turns a request into a stream of tokens that survives the loss of workers: routing, legs,
 * migration. Start at {@link io.dynamo.frontend.dispatch.Dispatcher}.
 */
@NullMarked
package io.dynamo.frontend.dispatch;

import org.jspecify.annotations.NullMarked;
