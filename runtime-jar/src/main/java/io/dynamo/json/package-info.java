/**
 * JSON as plain values: {@link io.dynamo.json.Json} reads and writes, {@link
 * io.dynamo.json.JsonObject} gives codecs typed access to an object. The binding library is used
 * nowhere else.
 */
@NullMarked
package io.dynamo.json;

import org.jspecify.annotations.NullMarked;
