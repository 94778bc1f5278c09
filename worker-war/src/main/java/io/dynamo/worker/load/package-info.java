/** What a worker tells of its load. Start at {@link io.dynamo.worker.load.LoadGauges}. */
@NullMarked
package io.dynamo.worker.load;

import org.jspecify.annotations.NullMarked;
