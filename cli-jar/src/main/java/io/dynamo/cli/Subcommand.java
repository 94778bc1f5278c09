package io.dynamo.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command with its help and its output. It returns its exit status. */
abstract class Subcommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // set by the parser
  private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Prints this help.")
  @SuppressWarnings("UnusedVariable") // read by the parser
  private boolean help;

  /** Returns the parser of this command. */
  final CommandLine commandLine() {
    return spec.commandLine();
  }

  /** Returns where answers are written. */
  final PrintWriter out() {
    return commandLine().getOut();
  }

  /** Returns where everything else is written. */
  final PrintWriter error() {
    return commandLine().getErr();
  }
}
