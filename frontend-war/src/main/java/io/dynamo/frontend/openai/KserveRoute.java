package io.dynamo.frontend.openai;

import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.net.PercentText;
import org.jspecify.annotations.Nullable;

/** A route of KServe's REST API. */
sealed interface KserveRoute {
  /** The method of its requests. */
  String method();

  /** A route that looks something up. */
  sealed interface Lookup extends KserveRoute {
    @Override
    default String method() {
      return "GET";
    }
  }

  record Server() implements Lookup {}

  record Live() implements Lookup {}

  record Ready() implements Lookup {}

  record Model(NamedModel model) implements Lookup {}

  record ModelReady(NamedModel model) implements Lookup {}

  record Config(NamedModel model) implements Lookup {}

  /**
   * The requests that models have answered.
   *
   * @param model without a name for all
   */
  record Statistics(NamedModel model) implements Lookup {}

  /** The list of models. */
  record Index() implements Lookup {
    @Override
    public String method() {
      return "POST";
    }
  }

  record Infer(NamedModel model) implements KserveRoute {
    @Override
    public String method() {
      return "POST";
    }
  }

  /** Triton's route for a text, whole or as a stream. */
  record Generate(NamedModel model, boolean stream) implements KserveRoute {
    @Override
    public String method() {
      return "POST";
    }
  }

  /**
   * Finds the route of a path. The name of a model may hold slashes; those that are written as
   * {@code %2F} are part of it, whatever is behind them.
   *
   * @param path below {@code /v2}, encoded, without parameters
   * @return null when there is none
   */
  static @Nullable KserveRoute of(String path) {
    return switch (path) {
      case "", "/" -> new Server();
      case "/health/live" -> new Live();
      case "/health/ready" -> new Ready();
      case "/repository/index" -> new Index();
      case "/models/stats" -> new Statistics(new NamedModel("", ""));
      default -> path.startsWith("/models/") ? ofModel(path.substring("/models/".length())) : null;
    };
  }

  private static @Nullable KserveRoute ofModel(String rest) {
    int slash = rest.lastIndexOf('/');
    var last = rest.substring(slash + 1);
    var before = slash < 0 ? "" : rest.substring(0, slash);
    return switch (last) {
      case "ready" -> before.isEmpty() ? model(rest) : new ModelReady(named(before));
      case "config" -> before.isEmpty() ? model(rest) : new Config(named(before));
      case "stats" -> before.isEmpty() ? model(rest) : new Statistics(named(before));
      case "infer" -> before.isEmpty() ? model(rest) : new Infer(named(before));
      case "generate" -> before.isEmpty() ? model(rest) : new Generate(named(before), false);
      case "generate_stream" -> before.isEmpty() ? model(rest) : new Generate(named(before), true);
      default -> model(rest);
    };
  }

  private static @Nullable KserveRoute model(String rest) {
    return rest.isEmpty() || rest.endsWith("/") ? null : new Model(named(rest));
  }

  private static NamedModel named(String rest) {
    int version = rest.lastIndexOf("/versions/");
    return version <= 0
        ? new NamedModel(PercentText.decoded(rest), "")
        : new NamedModel(
            PercentText.decoded(rest.substring(0, version)),
            PercentText.decoded(rest.substring(version + "/versions/".length())));
  }
}
