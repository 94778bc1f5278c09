/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.natives;

import org.jspecify.annotations.NullMarked;
