/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.router;

import org.jspecify.annotations.NullMarked;
