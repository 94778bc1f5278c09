package io.dynamo.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/** The output of a command that was run in this process, and its exit status. */
record CommandOutcome(int status, String out, String error) {
  static CommandOutcome of(String... arguments) {
    var out = new StringWriter();
    var error = new StringWriter();
    int status =
        DynamoCommand.parser()
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(error, true))
            .execute(arguments);
    return new CommandOutcome(status, out.toString(), error.toString());
  }
}
