/**
 * JSON as plain values: {@link io.dynamo.json.Json} reads and writes, {@link
 * io.dynamo.json.JsonObject} is how a record's codec looks at an object. The binding library is
 * seen nowhere else.
 */
@NullMarked
package io.dynamo.json;

import org.jspecify.annotations.NullMarked;
