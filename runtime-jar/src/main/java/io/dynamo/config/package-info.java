/**
 * Typed, validated settings: one record per area. Start at {@link io.dynamo.config.Settings};
 * {@link io.dynamo.config.SettingsReader} creates them from MicroProfile Config. No other code
 * reads the environment.
 */
@NullMarked
package io.dynamo.config;

import org.jspecify.annotations.NullMarked;
