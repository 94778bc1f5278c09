/**
 * The settings of workers and of their engines. Start at {@link
 * io.dynamo.config.worker.WorkerSettings}.
 */
@NullMarked
package io.dynamo.config.worker;

import org.jspecify.annotations.NullMarked;
