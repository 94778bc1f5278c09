package io.dynamo.cli;

import io.dynamo.cli.EngineServer.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a worker that serves with a running engine's server. Immutable.
 *
 * @param settings by key, in the order in which they are shown
 * @param problems what is missing, each with what to do; a worker starts only without any
 */
record WorkerPlan(Map<String, String> settings, List<String> problems) {
  private static final String SAFE = "[\\w@%+=:,./-]+"; // needs no quotes in a shell
  private static final String GGUF = ".gguf";

  /**
   * The choices of the operator.
   *
   * @param model the one of the server's models to serve; null for its first
   * @param folder the model's folder; null to look for it
   * @param keyFile holds the key that the server wants; null for none
   * @param authorities PEM certificates that sign the server's; null for those of the JVM
   */
  record Wishes(
      @Nullable String model,
      @Nullable Path folder,
      @Nullable Path keyFile,
      @Nullable Path authorities) {}

  WorkerPlan {
    settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
    problems = List.copyOf(problems);
  }

  /** Derives the settings of a worker from the answers of the engine's server. */
  static WorkerPlan of(EngineServer server, Wishes wishes, Map<String, String> environment) {
    var problems = new ArrayList<String>();
    var settings = new LinkedHashMap<String, String>();
    switch (server.kind()) {
      case VLLM, SGLANG, TRTLLM, OTHER -> {
        settings.put(
            "dynamo.worker.engine",
            server.kind() == Kind.OTHER ? "openai" : server.kind().name().toLowerCase(Locale.ROOT));
        settings.put("dynamo.worker.remote.url", server.address().toString());
        addAccess(wishes, settings);
        if (wishes.model() != null) {
          settings.put("dynamo.worker.remote.model", wishes.model());
        } else if (server.kind() == Kind.OTHER) { // some list their models in no order
          settings.put("dynamo.worker.remote.model", server.models().getFirst());
        }
      }
      case LLAMACPP -> {
        settings.put("dynamo.worker.engine", "llamacpp");
        settings.put("dynamo.worker.llamacpp.url", server.address().toString());
        addAccess(wishes, settings);
      }
      case DYNAMO ->
          problems.add(
              "it is a frontend already; give its workers and yours one discovery in place of a"
                  + " worker before it");
    }
    if (problems.isEmpty()) {
      addModel(server, wishes, environment, settings, problems);
    }
    return new WorkerPlan(settings, problems);
  }

  private static void addAccess(Wishes wishes, Map<String, String> settings) {
    if (wishes.keyFile() != null) {
      settings.put("dynamo.worker.remote.key-file", absolute(wishes.keyFile()));
    }
    if (wishes.authorities() != null) {
      settings.put("dynamo.worker.remote.tls.authorities", absolute(wishes.authorities()));
    }
  }

  private static void addModel(
      EngineServer server,
      Wishes wishes,
      Map<String, String> environment,
      Map<String, String> settings,
      List<String> problems) {
    var name = wishes.model() == null ? server.models().getFirst() : wishes.model();
    if (!server.models().contains(name)) {
      problems.add("it serves %s, not \"%s\"; choose one".formatted(server.models(), name));
    }
    settings.put("dynamo.worker.model-name", shown(name));
    var folder =
        wishes.folder() == null ? ModelFolder.find(server.source(), environment) : wishes.folder();
    if (folder == null) {
      problems.add(download(server));
    } else {
      var missing = ModelFolder.missing(folder);
      if (!missing.isEmpty()) {
        problems.add(
            "%s lacks %s; name the model's Hugging Face folder with --model-path"
                .formatted(folder, String.join(" and ", missing)));
      }
      settings.put("dynamo.worker.model-path", absolute(folder));
    }
    settings.put("dynamo.worker.ranks", Integer.toString(server.ranks()));
  }

  private static String absolute(Path path) {
    return path.toAbsolutePath().normalize().toString();
  }

  /** A file's name is no name for clients. */
  private static String shown(String name) {
    return name.endsWith(GGUF)
        ? name.substring(name.lastIndexOf('/') + 1, name.length() - GGUF.length())
        : name;
  }

  private static String download(EngineServer server) {
    var source = server.source();
    var hub = source != null && ModelFolder.isHubName(source);
    return "the model's tokenizer is not on this machine%s; %s, then name the folder with --model-path"
        .formatted(
            source == null || hub ? "" : " (the server has it from " + source + ")",
            hub
                ? "hf download %s --include '*.json' '*.jinja' 'tiktoken.model' '*.tiktoken' --local-dir FOLDER fetches it"
                    .formatted(source)
                : "download config.json, tokenizer.json (or tiktoken.model), tokenizer_config.json and the chat"
                    + " template of the same model from the Hugging Face hub");
  }

  boolean isComplete() {
    return problems.isEmpty();
  }

  /** Returns the settings as lines of a file for {@code dynamo serve --config}. */
  String properties() {
    var lines = new StringBuilder();
    settings.forEach(
        (key, value) ->
            lines.append(key).append(" = ").append(value.replace("\\", "\\\\")).append('\n'));
    return lines.toString();
  }

  /** Returns the command that starts a server with these settings in its environment. */
  String command() {
    var line = new StringBuilder();
    settings.forEach(
        (key, value) ->
            line.append(key.toUpperCase(Locale.ROOT).replaceAll("[.-]", "_"))
                .append('=')
                .append(quoted(value))
                .append(" \\\n  "));
    return line.append("dynamo serve").toString();
  }

  /** Returns the value as one word of a POSIX shell. */
  static String quoted(String value) {
    return value.matches(SAFE) ? value : "'" + value.replace("'", "'\\''") + "'";
  }
}
