/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.event;

import org.jspecify.annotations.NullMarked;
