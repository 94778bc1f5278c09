/**
 * What the container is told of its HTTP port that only the settings know: TLS and limits. Start at
 * {@link io.dynamo.runtime.http.HttpPort}. Knows Open Liberty's configuration and none of its
 * classes.
 */
@NullMarked
package io.dynamo.runtime.http;

import org.jspecify.annotations.NullMarked;
