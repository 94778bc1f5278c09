/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.util;

import org.jspecify.annotations.NullMarked;
