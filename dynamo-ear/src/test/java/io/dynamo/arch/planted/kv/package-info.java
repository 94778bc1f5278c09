/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.kv;

import org.jspecify.annotations.NullMarked;
