/** Makes the router of a server from its runtime, for CDI. Core packages know nothing of this. */
@NullMarked
package io.dynamo.router.wiring;

import org.jspecify.annotations.NullMarked;
