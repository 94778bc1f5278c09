/**
 * The records that finished requests leave in files: Dynamo's request traces. Start at {@link
 * io.dynamo.frontend.record.RequestRecords}. Knows nothing of HTTP, bodies or routing.
 */
@NullMarked
package io.dynamo.frontend.record;

import org.jspecify.annotations.NullMarked;
