package io.dynamo.cli;

import io.dynamo.json.JsonObject;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Checks settings, ports, files and discovery for faults that would keep a server from starting
 * here.
 */
@Command(
    name = "check",
    description = {
      "Finds what would keep a server from starting with these settings here.",
      "Looks at settings, ports, the model's files and discovery; starts no server."
    })
final class CheckCommand extends Subcommand {
  @Mixin private ConfigurationOptions configuration;

  @Option(names = "--json", description = "Prints one line of JSON.")
  private boolean json;

  @SuppressWarnings("NullAway.Init")
  CheckCommand() {}

  @Override
  public Integer call() {
    var findings = Inspection.of(configuration.settings());
    var problems = findings.stream().filter(Inspection.Finding::isProblem).toList();
    var out = out();
    if (json) {
      Output.json(
          out,
          JsonObject.ordered(
              "ok", problems.isEmpty(),
              "findings",
                  findings.stream()
                      .map(
                          it ->
                              JsonObject.ordered(
                                  "about",
                                  it.about(),
                                  "problem",
                                  it.isProblem(),
                                  "text",
                                  it.text()))
                      .toList()));
    } else {
      findings.forEach(it -> out.println(line(it)));
      out.println(summary(problems));
    }
    return problems.isEmpty() ? ExitCode.DONE : ExitCode.REFUSED;
  }

  private static String line(Inspection.Finding finding) {
    return "%-8s %-10s %s"
        .formatted(finding.isProblem() ? "problem" : "ok", finding.about(), finding.text());
  }

  private static String summary(List<Inspection.Finding> problems) {
    return switch (problems.size()) {
      case 0 -> "a server can start here";
      case 1 -> "1 problem";
      default -> problems.size() + " problems";
    };
  }
}
