/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.frontend;

import org.jspecify.annotations.NullMarked;
