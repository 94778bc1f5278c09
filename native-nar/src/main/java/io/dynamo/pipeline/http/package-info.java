/**
 * A small HTTP/1.1 server on the shared event loops, for operators and probes: bounded in headers,
 * bodies, connections and time. Start at {@link io.dynamo.pipeline.http.HttpServer}. Knows requests
 * and answers, nothing of routes.
 */
@NullMarked
package io.dynamo.pipeline.http;

import org.jspecify.annotations.NullMarked;
