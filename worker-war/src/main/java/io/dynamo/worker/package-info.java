/**
 * A worker: an engine, served on the request plane and registered in discovery. Start at {@link
 * io.dynamo.worker.WorkerService}.
 */
@NullMarked
package io.dynamo.worker;

import org.jspecify.annotations.NullMarked;
