package io.dynamo.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the settings with value, source, bound and default, as a server started here has them. */
@Command(
    name = "settings",
    description = "Lists all settings with their value, where it is from, bound and default.")
final class SettingsCommand extends Subcommand {
  @Mixin private ConfigurationOptions configuration;

  @Option(names = "--json", description = "Prints one line of JSON.")
  private boolean json;

  @Parameters(
      arity = "0..1",
      paramLabel = "PART",
      description = "Lists only the settings whose key contains this.")
  private @Nullable String part;

  @SuppressWarnings("NullAway.Init")
  SettingsCommand() {}

  @Override
  public Integer call() {
    var settings = configuration.settings();
    var listing = settings.listing(part == null ? "" : part);
    var out = out();
    if (json) {
      Output.json(out, listing.members());
    } else {
      out.print(listing.text());
      out.flush();
      var without = settings.variablesWithoutEffect();
      if (without != null) {
        error().println("without effect here: " + without);
      }
    }
    if (listing.isEmpty()) {
      error().println("no setting has \"" + part + "\" in its key");
      return ExitCode.REFUSED;
    }
    return ExitCode.DONE;
  }
}
