/**
 * The implementation of the router: one {@code EndpointRouter} per worker set finds the eligible
 * ranks, chooses one, and books it. Start at {@link io.dynamo.router.endpoint.EndpointRouters}.
 * Assembles all other packages of the router; does not depend on {@code wiring}.
 */
@NullMarked
package io.dynamo.router.endpoint;

import org.jspecify.annotations.NullMarked;
