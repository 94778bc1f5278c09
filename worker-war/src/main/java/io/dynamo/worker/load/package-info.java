/**
 * The load reports of a worker: for scrapers {@link io.dynamo.worker.load.LoadGauges} and {@link
 * io.dynamo.worker.load.LifecycleGauges}, for routers {@link io.dynamo.worker.load.LoadPublisher}
 * and {@link io.dynamo.worker.load.PrefillMarks}, for planners {@link
 * io.dynamo.worker.load.ForwardPasses}.
 */
@NullMarked
package io.dynamo.worker.load;

import org.jspecify.annotations.NullMarked;
