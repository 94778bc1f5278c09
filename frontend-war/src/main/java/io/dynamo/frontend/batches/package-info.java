/**
 * Files of requests and the batches made of them: a database that holds both, and a runner that
 * sends the lines of batches through the same way as all requests. Start at {@link
 * io.dynamo.frontend.batches.BatchRunner}. Knows JDBC and bytes; the JSON of lines is the API's.
 */
@NullMarked
package io.dynamo.frontend.batches;

import org.jspecify.annotations.NullMarked;
