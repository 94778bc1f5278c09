/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.block;

import org.jspecify.annotations.NullMarked;
