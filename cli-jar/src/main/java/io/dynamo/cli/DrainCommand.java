package io.dynamo.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Starts the drain of a worker: it takes no new requests and finishes those that run. */
@Command(
    name = "drain",
    description = {
      "Has a worker take no more requests and finish those that run.",
      "Only from the worker's own machine; --url names its HTTP port."
    })
final class DrainCommand extends Subcommand {
  @Mixin private ServerOptions server;

  @SuppressWarnings("NullAway.Init")
  DrainCommand() {}

  @Override
  public Integer call() {
    var client = server.client();
    int status = client.post("/worker/drain");
    return switch (status) {
      case 202 -> {
        out().println("the worker at " + client.server() + " drains");
        yield ExitCode.DONE;
      }
      case 404 ->
          throw new RefusedException(
              "the server at %s has no worker to drain; name one with --url"
                  .formatted(client.server()));
      case 403 ->
          throw new RefusedException(
              "the server at %s lets only callers of its own machine drain it"
                  .formatted(client.server()));
      default -> throw new RefusedException(client.server() + "/worker/drain answered " + status);
    };
  }
}
