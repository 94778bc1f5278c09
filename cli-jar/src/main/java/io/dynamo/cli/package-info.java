/**
 * The command line: what an operator runs beside the servers. Start at {@link
 * io.dynamo.cli.DynamoCommand}. Starts no server and knows none of its modules but the runtime's
 * settings.
 */
@NullMarked
package io.dynamo.cli;

import org.jspecify.annotations.NullMarked;
