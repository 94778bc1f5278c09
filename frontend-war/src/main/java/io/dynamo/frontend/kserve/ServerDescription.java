package io.dynamo.frontend.kserve;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The server, as clients may know it. */
public record ServerDescription(String name, String version, List<String> extensions) {
  /** This server. */
  public static final ServerDescription OURS =
      new ServerDescription(
          "dynamo",
          version(ServerDescription.class.getPackage().getImplementationVersion()),
          List.of("model_repository(index)", "model_configuration", "statistics", "generate"));

  public ServerDescription {
    extensions = List.copyOf(extensions);
  }

  private static String version(@Nullable String ofManifest) {
    return ofManifest == null ? "0.1.0" : ofManifest;
  }
}
