/**
 * The Netty TCP pipeline: shared event loops, two-part frames, and call-home streams, on which a
 * worker streams an answer to the requester. Start at {@link io.dynamo.pipeline.CallHomeServer} and
 * {@link io.dynamo.pipeline.CallHomeClient}. Knows frames and streams, nothing of endpoints, models
 * or requests.
 */
@NullMarked
package io.dynamo.pipeline;

import org.jspecify.annotations.NullMarked;
