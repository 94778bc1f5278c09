/**
 * The planes, assembled into one runtime per server. Start at {@link
 * io.dynamo.runtime.DynamoRuntime}.
 */
@NullMarked
package io.dynamo.runtime;

import org.jspecify.annotations.NullMarked;
