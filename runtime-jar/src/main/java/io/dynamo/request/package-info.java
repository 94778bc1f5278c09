/**
 * The request plane: calling an endpoint's instance and streaming its answer. Start at {@link
 * io.dynamo.request.EndpointClient} and {@link io.dynamo.request.EndpointServer}.
 */
@NullMarked
package io.dynamo.request;

import org.jspecify.annotations.NullMarked;
