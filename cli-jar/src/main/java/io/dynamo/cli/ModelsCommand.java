package io.dynamo.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists the models that a server can be asked for. */
@Command(name = "models", description = "Lists the models that can be asked now.")
final class ModelsCommand extends Subcommand {
  @Mixin private ServerOptions server;

  @Option(names = "--json", description = "Prints the server's answer.")
  private boolean json;

  @SuppressWarnings("NullAway.Init")
  ModelsCommand() {}

  @Override
  public Integer call() {
    var out = out();
    var answer = server.client().object("/v1/models");
    var models = names(answer.members().get("data"));
    if (json) {
      Output.json(out, answer.members());
    } else if (models.isEmpty()) {
      error().println("no model can be asked: no worker serves one");
    } else {
      models.forEach(out::println);
    }
    return models.isEmpty() ? ExitCode.REFUSED : ExitCode.DONE;
  }

  /** Returns the ids in the list of models that {@code GET /v1/models} answers. */
  static List<String> names(@Nullable Object data) {
    var names = new ArrayList<String>();
    if (data instanceof List<?> entries) {
      for (var entry : entries) {
        if (entry instanceof Map<?, ?> model && model.get("id") instanceof String id) {
          names.add(id);
        }
      }
    }
    return names;
  }
}
