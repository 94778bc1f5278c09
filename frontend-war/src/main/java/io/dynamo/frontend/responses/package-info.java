/**
 * Stored responses: a database that holds them, a bounded queue before it, and bounds on what is
 * kept. Start at {@link io.dynamo.frontend.responses.ResponseStore}. Knows JDBC and bytes; the JSON
 * of responses is the API's.
 */
@NullMarked
package io.dynamo.frontend.responses;

import org.jspecify.annotations.NullMarked;
