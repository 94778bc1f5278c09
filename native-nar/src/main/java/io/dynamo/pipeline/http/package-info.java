/**
 * HTTP/1.1 on the shared event loops. A small server for operators and probes, bounded in headers,
 * bodies, connections and time: start at {@link io.dynamo.pipeline.http.HttpServer}. And a client
 * for answers that are streamed: start at {@link io.dynamo.pipeline.http.HttpClient}. Knows
 * requests and answers, nothing of routes.
 */
@NullMarked
package io.dynamo.pipeline.http;

import org.jspecify.annotations.NullMarked;
