/**
 * One setting: its key, default, bound, type and other names. Start at {@link
 * io.dynamo.config.key.SettingKey}.
 */
@NullMarked
package io.dynamo.config.key;

import org.jspecify.annotations.NullMarked;
