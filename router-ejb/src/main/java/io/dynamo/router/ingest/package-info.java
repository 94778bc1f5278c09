/**
 * Brings KV events from the event plane into the index: order, duplicates, gaps, and the queries to
 * workers that fill the gaps. Start at {@link io.dynamo.router.ingest.EventIntake}; {@link
 * io.dynamo.router.ingest.Recoveries} sends the queries. Does not depend on how ranks are chosen.
 */
@NullMarked
package io.dynamo.router.ingest;

import org.jspecify.annotations.NullMarked;
