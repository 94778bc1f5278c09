/** Planted against the rules. */
@NullMarked
package io.dynamo.arch.planted.request;

import org.jspecify.annotations.NullMarked;
