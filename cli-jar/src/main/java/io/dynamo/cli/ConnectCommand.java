package io.dynamo.cli;

import io.dynamo.cli.EngineServer.Kind;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Queries a running engine's server, and prints the settings of a worker before it. */
@Command(
    name = "connect",
    description = {
      "Asks a running server of vLLM, SGLang, llama.cpp or another what it serves, and prints the"
          + " settings of a worker before it.",
      "Only reads: nothing is generated and no server is started."
    })
final class ConnectCommand extends Subcommand {
  private static final String REMEDY = "start the engine's server, or correct the address";

  @Parameters(paramLabel = "URL", description = "The engine's server, as http://127.0.0.1:8100.")
  @SuppressWarnings("NullAway.Init") // set by the parser
  private URI url;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "The one of its models to serve; as a default the first.")
  private @Nullable String model;

  @Option(
      names = "--model-path",
      paramLabel = "DIR",
      description =
          "The model's Hugging Face folder, for its tokenizer and template; as a default the one"
              + " that the server names, or that the hub's cache has.")
  private @Nullable Path folder;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description = "A file with the bearer key that the server wants.")
  private @Nullable Path keyFile;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "PEM certificates that sign the server's; as a default those of the JDK.")
  private @Nullable Path authorities;

  @Option(
      names = "--save",
      paramLabel = "FILE",
      description = "Writes the settings to a new file, for dynamo serve --config.")
  private @Nullable Path file;

  @Option(names = "--json", description = "Prints one line of JSON.")
  private boolean json;

  ConnectCommand() {}

  @Override
  public Integer call() {
    var client = new ServerClient(EngineProbe.base(url), authorities, key(), REMEDY);
    var server = new EngineProbe(client).ask();
    var plan =
        WorkerPlan.of(
            server, new WorkerPlan.Wishes(model, folder, keyFile, authorities), System.getenv());
    if (file != null && plan.isComplete()) {
      save(plan, file);
    }
    if (json) {
      Output.json(out(), object(server, plan));
    } else {
      print(out(), server, plan);
    }
    return plan.isComplete() ? ExitCode.DONE : ExitCode.REFUSED;
  }

  private @Nullable String key() {
    if (keyFile == null) {
      return null;
    }
    try {
      var key = Files.readString(keyFile).strip();
      if (key.isEmpty() || !key.chars().allMatch(c -> c > ' ' && c < 127)) {
        throw new RefusedException(
            keyFile + " does not hold one line of printable ASCII; write the key into it");
      }
      return key;
    } catch (IOException e) {
      throw new RefusedException(
          "the key in %s cannot be read: %s; make it readable".formatted(keyFile, e));
    }
  }

  private static void save(WorkerPlan plan, Path file) {
    try {
      Files.writeString(
          file, plan.properties(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new RefusedException(
          "the settings cannot be written to %s: %s; name a new file".formatted(file, e));
    }
  }

  private static Map<String, @Nullable Object> object(EngineServer server, WorkerPlan plan) {
    var object = new LinkedHashMap<String, @Nullable Object>();
    object.put("engine", server.kind().name().toLowerCase(Locale.ROOT));
    object.put("version", server.version());
    object.put("url", server.address().toString());
    object.put("models", server.models());
    object.put("source", server.source());
    object.put("context", server.context());
    object.put("block_tokens", server.blockTokens());
    object.put("blocks_per_rank", server.blocks());
    object.put("ranks", server.ranks());
    object.put("slots", server.slots());
    object.put("settings", plan.settings());
    object.put("problems", plan.problems());
    return object;
  }

  private void print(PrintWriter out, EngineServer server, WorkerPlan plan) {
    out.println(
        "%s%s at %s serves %s"
            .formatted(
                server.kind().title(),
                server.version() == null ? "" : " " + server.version(),
                server.address(),
                String.join(", ", server.models())));
    printLimits(out, server);
    if (!plan.isComplete()) {
      out.println();
      plan.problems().forEach(problem -> out.println("missing: " + problem));
      return;
    }
    out.println();
    if (server.kind() == Kind.OTHER) {
      out.println(
          "It is asked by text, not by token ids, at /v1/completions; docs/engines.md says what"
              + " that costs.");
    }
    out.println("A server before it, with frontend and router:");
    out.println();
    if (file == null) {
      out.println("  " + plan.command());
      out.println();
      out.println("The same in a file: --save FILE, then dynamo serve --config FILE");
    } else {
      out.println("  dynamo serve --config " + WorkerPlan.quoted(file.toString()));
    }
  }

  private static void printLimits(PrintWriter out, EngineServer server) {
    if (server.context() != null) {
      out.println("  context   " + server.context() + " tokens");
    }
    if (server.blockTokens() != null && server.blocks() != null) {
      out.println(
          "  KV cache  %d blocks of %d tokens on each of %d %s"
              .formatted(
                  server.blocks(),
                  server.blockTokens(),
                  server.ranks(),
                  server.ranks() == 1 ? "rank" : "ranks"));
    }
    if (server.slots() != null) {
      out.println("  slots     " + server.slots());
    }
    if (server.source() != null) {
      out.println("  model of  " + server.source());
    }
  }
}
