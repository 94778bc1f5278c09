/**
 * The router in a container: {@link io.dynamo.router.wiring.RouterStartup} starts and stops the
 * runtime and the router, {@link io.dynamo.router.wiring.RouterProducer} produces the one router of
 * a server.
 */
@NullMarked
package io.dynamo.router.wiring;

import org.jspecify.annotations.NullMarked;
