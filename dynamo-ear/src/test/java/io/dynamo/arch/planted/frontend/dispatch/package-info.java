/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.frontend.dispatch;

import org.jspecify.annotations.NullMarked;
