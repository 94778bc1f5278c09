/**
 * Brings KV events from the event plane into the index: order, duplicates, gaps. Start at {@link
 * io.dynamo.router.ingest.EventIntake}. Knows nothing of choosing.
 */
@NullMarked
package io.dynamo.router.ingest;

import org.jspecify.annotations.NullMarked;
