/**
 * What a worker tells of its load: scrapers by {@link io.dynamo.worker.load.LoadGauges} and {@link
 * io.dynamo.worker.load.LifecycleGauges}, routers by {@link io.dynamo.worker.load.LoadPublisher}
 * and {@link io.dynamo.worker.load.PrefillMarks}, planners by {@link
 * io.dynamo.worker.load.ForwardPasses}.
 */
@NullMarked
package io.dynamo.worker.load;

import org.jspecify.annotations.NullMarked;
