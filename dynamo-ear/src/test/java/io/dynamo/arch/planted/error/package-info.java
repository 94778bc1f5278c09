/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.error;

import org.jspecify.annotations.NullMarked;
