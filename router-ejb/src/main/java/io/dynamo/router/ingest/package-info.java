/**
 * Brings KV events from the event plane into the index: order, duplicates, gaps, and the questions
 * to workers that fill them. Start at {@link io.dynamo.router.ingest.EventIntake}; {@link
 * io.dynamo.router.ingest.Recoveries} asks. Knows nothing of choosing.
 */
@NullMarked
package io.dynamo.router.ingest;

import org.jspecify.annotations.NullMarked;
