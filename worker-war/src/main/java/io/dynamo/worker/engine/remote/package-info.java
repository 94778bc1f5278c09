/** What engines in other processes, driven over HTTP, share. Knows nothing of planes. */
@NullMarked
package io.dynamo.worker.engine.remote;

import org.jspecify.annotations.NullMarked;
