/**
 * Engines in other processes, driven over HTTP: what all of them share. Start at {@link
 * io.dynamo.worker.engine.remote.RemoteEngine}; what one kind of server says and understands is a
 * {@link io.dynamo.worker.engine.remote.Dialect}.
 *
 * <p>Each generation is one virtual thread; events from elsewhere (a cancel, room in the stream,
 * bytes from the server) only unpark it. Knows nothing of planes.
 */
@NullMarked
package io.dynamo.worker.engine.remote;

import org.jspecify.annotations.NullMarked;
