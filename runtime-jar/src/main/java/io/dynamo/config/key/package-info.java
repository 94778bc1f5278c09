/**
 * One setting: its key, default, bound, text and other names, and how it is read. Start at {@link
 * io.dynamo.config.key.SettingKey}.
 */
@NullMarked
package io.dynamo.config.key;

import org.jspecify.annotations.NullMarked;
