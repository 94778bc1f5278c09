/**
 * Typed, validated settings: one record per area. Start at {@link io.dynamo.config.Settings};
 * {@link io.dynamo.config.SettingsReader} makes them from MicroProfile Config. Nothing else reads
 * the environment.
 */
@NullMarked
package io.dynamo.config;

import org.jspecify.annotations.NullMarked;
