package io.dynamo.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;

/** Prints the completion of all commands and options for bash and zsh. */
@Command(
    name = "completion",
    description = "Prints completion for bash and zsh: source <(dynamo completion)")
final class CompletionCommand extends Subcommand {

  @Override
  public Integer call() {
    var root = commandLine().getParent();
    out().print(AutoComplete.bash(root.getCommandName(), root));
    out().flush();
    return ExitCode.DONE;
  }
}
