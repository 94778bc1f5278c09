/**
 * Has the container open its HTTP port as the settings say: address, TLS and limits. Start at
 * {@link io.dynamo.runtime.http.HttpPort}. Knows Open Liberty's configuration and none of its
 * classes.
 */
@NullMarked
package io.dynamo.runtime.http;

import org.jspecify.annotations.NullMarked;
