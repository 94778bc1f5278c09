/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.runtime;

import org.jspecify.annotations.NullMarked;
