/** Typed, validated settings: one record per area. Start at {@link io.dynamo.config.Settings}. */
@NullMarked
package io.dynamo.config;

import org.jspecify.annotations.NullMarked;
