/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.router.select;

import org.jspecify.annotations.NullMarked;
