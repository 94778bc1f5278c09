package io.dynamo.cli;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Checks whether a server is ready, for scripts and the health checks of containers. */
@Command(name = "ready", description = "Tells whether a server is ready, and what of it is not.")
final class ReadyCommand extends Subcommand {
  private static final String PATH = "/health/ready";
  private static final Duration ASK_AGAIN = Duration.ofMillis(250);
  private static final int MOST_SECONDS = 24 * 60 * 60;

  @Mixin private ServerOptions server;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "0",
      description = "Waits at most this long for it (default: ${DEFAULT-VALUE}).")
  private int wait;

  @SuppressWarnings("NullAway.Init")
  ReadyCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    if (wait < 0 || wait > MOST_SECONDS) {
      throw new ParameterException(
          commandLine(), "--wait is %d; it must be 0 to %d".formatted(wait, MOST_SECONDS));
    }
    var client = server.client();
    long end = System.nanoTime() + Duration.ofSeconds(wait).toNanos();
    while (true) {
      boolean last = System.nanoTime() - end >= 0;
      try {
        var answer = client.get(PATH);
        if (answer.status() == 200) {
          out().println(client.server() + " is ready");
          return ExitCode.DONE;
        }
        if (last) {
          error().println(client.server() + " is not ready: " + reason(answer));
          return ExitCode.REFUSED;
        }
      } catch (UnreachableException e) {
        if (last) {
          throw e;
        }
      }
      Thread.sleep(ASK_AGAIN);
    }
  }

  /** Returns the names of the checks that are down. */
  private static String reason(ServerClient.Answer answer) {
    try {
      var checks =
          Json.readObject(answer.text().getBytes(StandardCharsets.UTF_8)).optionalObjects("checks");
      var down = checks.stream().filter(check -> !"UP".equals(check.optionalText("status")));
      var names = down.map(ReadyCommand::shown).collect(Collectors.joining(", "));
      return names.isEmpty() ? status(answer) : names;
    } catch (IllegalArgumentException _) {
      return status(answer);
    }
  }

  private static String shown(JsonObject check) {
    var data = check.optionalObject("data");
    return check.optionalText("name") + (data == null ? "" : " " + data.members());
  }

  private static String status(ServerClient.Answer answer) {
    return "it answers " + answer.status();
  }
}
