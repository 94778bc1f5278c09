/**
 * The router in a container: {@link io.dynamo.router.wiring.RouterStartup} starts and stops what
 * the application has one of, {@link io.dynamo.router.wiring.RouterProducer} gives the one router
 * of a server.
 */
@NullMarked
package io.dynamo.router.wiring;

import org.jspecify.annotations.NullMarked;
