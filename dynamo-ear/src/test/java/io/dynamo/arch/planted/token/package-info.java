/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.token;

import org.jspecify.annotations.NullMarked;
