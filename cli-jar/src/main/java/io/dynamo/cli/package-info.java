/**
 * The command line: what an operator runs beside the servers. Start at {@link
 * io.dynamo.cli.DynamoCommand}. Knows no module of the servers but the runtime's settings; only
 * {@code cluster} starts processes.
 */
@NullMarked
package io.dynamo.cli;

import org.jspecify.annotations.NullMarked;
