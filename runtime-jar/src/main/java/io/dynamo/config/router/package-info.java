/** The settings of the router. Start at {@link io.dynamo.config.router.RouterSettings}. */
@NullMarked
package io.dynamo.config.router;

import org.jspecify.annotations.NullMarked;
