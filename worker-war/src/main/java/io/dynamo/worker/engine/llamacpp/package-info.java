/**
 * An engine in another process: llama.cpp's own server, driven over its HTTP API with token ids.
 * Start at {@link io.dynamo.worker.engine.llamacpp.LlamaCppEngine}.
 *
 * <p>Each generation is one virtual thread; events from elsewhere (a cancel, room in the stream,
 * bytes from the server) only unpark it. Knows nothing of planes.
 */
@NullMarked
package io.dynamo.worker.engine.llamacpp;

import org.jspecify.annotations.NullMarked;
