/**
 * The failures of the system, as codes that survive the wire. Start at {@link
 * io.dynamo.error.ErrorCode}.
 */
@NullMarked
package io.dynamo.error;

import org.jspecify.annotations.NullMarked;
