package io.dynamo.config;

/**
 * A setting: its key, how its text is read, what holds when it is absent, and what it must fulfil.
 *
 * @param standard the default as a text that is read like any other; {@code ${name}} and {@code
 *     ${name:otherwise}} in it stand for other entries of the configuration; empty means absent
 * @param meaning for the documentation: one line
 */
record SettingKey<T>(
    String name, SettingType<T> type, String standard, Bound<T> bound, String meaning) {}
