package io.dynamo.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that says which model to ask. */
final class ModelOption {
  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "The model; as a default the first.")
  private @Nullable String model;

  /**
   * The model that is named, or else the first that the server has.
   *
   * @throws RefusedException when it has none
   */
  String of(ServerClient client) {
    if (model != null) {
      return model;
    }
    var names = ModelsCommand.names(client.object("/v1/models").members().get("data"));
    if (names.isEmpty()) {
      throw new RefusedException(client.server() + " serves no model now; start a worker");
    }
    return names.getFirst();
  }
}
