package io.dynamo.cli;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The command line of the product. {@code bin/dynamo} of the runnable archive runs it. */
@Command(
    name = "dynamo",
    description = "Serves large language models, and looks after the servers.",
    versionProvider = VersionCommand.Line.class,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:done",
      "1:the answer is no: problems were found, or the server refused",
      "2:the command line is wrong",
      "69:no server answered"
    },
    footer = {
      "",
      "dynamo serve starts a server in the foreground; dynamo serve --help has its options."
    },
    subcommands = {
      VersionCommand.class,
      CheckCommand.class,
      ClusterCommand.class,
      SettingsCommand.class,
      ModelsCommand.class,
      WorkersCommand.class,
      ConnectCommand.class,
      ReadyCommand.class,
      ExplainCommand.class,
      ChatCommand.class,
      BatchCommand.class,
      DrainCommand.class,
      BenchCommand.class,
      BenchTransferCommand.class,
      CompletionCommand.class
    })
public final class DynamoCommand extends Subcommand {

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "Prints the version; dynamo version prints more.")
  @SuppressWarnings("UnusedVariable") // read by the parser
  private boolean version;

  DynamoCommand() {}

  /** Runs one command and ends the process with its exit status. */
  public static void main(String[] args) {
    System.exit(parser().execute(args));
  }

  /** Returns the parser of all commands, with the failures of servers as messages. */
  static CommandLine parser() {
    return new CommandLine(new DynamoCommand())
        .setExecutionExceptionHandler(
            (failure, line, _) -> {
              PrintWriter error = line.getErr();
              return switch (failure) {
                case UnreachableException unreachable -> {
                  error.println("dynamo: " + unreachable.getMessage());
                  yield ExitCode.UNREACHABLE;
                }
                case RefusedException refused -> {
                  error.println("dynamo: " + refused.getMessage());
                  yield ExitCode.REFUSED;
                }
                default -> throw failure;
              };
            });
  }

  @Override
  public Integer call() {
    throw new ParameterException(commandLine(), "Missing required subcommand");
  }
}
