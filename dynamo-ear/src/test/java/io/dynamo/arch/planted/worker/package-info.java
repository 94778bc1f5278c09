/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.worker;

import org.jspecify.annotations.NullMarked;
