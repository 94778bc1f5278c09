/** Where the container starts and stops the application. */
@NullMarked
package io.dynamo.router.wiring;

import org.jspecify.annotations.NullMarked;
