package io.dynamo.frontend.load;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Our frontend and Dynamo's, in turn on the same core, before the same workers and asked the same
 * by {@link FrontendLoad}. Needs two cores, the packaged server ({@code mvn package}) and a Python
 * environment with ai-dynamo 1.6.1.
 *
 * <p>{@code java frontend-war/src/bench/java/io/dynamo/frontend/load/BesideDynamo.java
 * liberty/target <environment> [rounds]}
 */
public final class BesideDynamo {
  private static final String FRONTEND_CORE = "0";
  private static final String OTHER_CORE = "1";
  private static final int CONTEXT = 1 << 18;
  private static final Map<String, String> PACED =
      Map.of(
          "DYNAMO_WORKER_MODEL_NAME",
          "paced",
          "DYNAMO_WORKER_COMPONENT",
          "paced",
          "DYNAMO_WORKER_TOKEN_INTERVAL",
          "20ms");

  /** A kind of load, with its options. */
  private record Scenario(String name, List<String> options) {}

  private static final String SECONDS = "10";

  /** Not counted: a JVM on one core compiles for two to three minutes. */
  private static final List<Scenario> WARMUP =
      List.of(
          new Scenario(
              "warm-up, whole",
              List.of(
                  "--clients",
                  "32",
                  "--tokens",
                  "8",
                  "--stream",
                  "false",
                  "--warmup",
                  "100",
                  "--seconds",
                  "1")),
          new Scenario(
              "warm-up, streamed",
              List.of("--clients", "64", "--tokens", "64", "--warmup", "60", "--seconds", "1")));

  private static final List<Scenario> SCENARIOS =
      List.of(
          new Scenario(
              "one stream", List.of("--clients", "1", "--tokens", "32", "--seconds", SECONDS)),
          new Scenario(
              "short chats, whole",
              List.of(
                  "--clients", "32", "--tokens", "8", "--stream", "false", "--seconds", SECONDS)),
          new Scenario(
              "64 streams, tokens at once",
              List.of("--clients", "64", "--tokens", "128", "--seconds", SECONDS)),
          new Scenario(
              "64 streams, a token each 20 ms",
              List.of(
                  "--clients", "64", "--tokens", "128", "--model", "paced", "--seconds", SECONDS)),
          new Scenario(
              "256 streams, a token each 20 ms",
              List.of(
                  "--clients", "256", "--tokens", "128", "--model", "paced", "--seconds", SECONDS)),
          new Scenario(
              "40,000 words, new each time",
              List.of("--clients", "2", "--tokens", "1", "--words", "40000", "--seconds", SECONDS)),
          new Scenario(
              "40,000 words, chats of 8 turns",
              List.of(
                  "--clients",
                  "2",
                  "--tokens",
                  "1",
                  "--words",
                  "40000",
                  "--turns",
                  "8",
                  "--seconds",
                  SECONDS)));

  private final Installation installation;

  private BesideDynamo(Installation installation) {
    this.installation = installation;
  }

  public static void main(String[] args) throws Exception {
    if (args.length < 2) {
      System.err.println("usage: BesideDynamo liberty/target PYTHON-ENVIRONMENT [rounds]");
      System.exit(2);
    }
    int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 2;
    try (var installation = Installation.unpacked(Path.of(args[0]), Path.of(args[1]))) {
      widen(installation.model());
      new BesideDynamo(installation).compare(rounds);
    }
  }

  /** Lets the model take long prompts. */
  private static void widen(Path model) throws IOException {
    var config = model.resolve("config.json");
    Files.writeString(
        config,
        Files.readString(config)
            .replaceAll("(\"max_position_embeddings\":\\s*)\\d+", "$1" + CONTEXT));
    var tokenizer = model.resolve("tokenizer_config.json");
    Files.writeString(
        tokenizer,
        Files.readString(tokenizer).replaceAll("(\"model_max_length\":\\s*)\\d+", "$1" + CONTEXT));
  }

  private void compare(int rounds) throws Exception {
    try (var worker = worker(Map.of());
        var paced = worker(PACED)) {
      worker.await("/health/ready", "UP");
      paced.await("/health/ready", "UP");
      for (int round = 0; round < rounds; round++) {
        try (var frontend =
            installation.ours(
                "frontend",
                FRONTEND_CORE,
                null,
                "frontend",
                Map.of("DYN_ROUTER_MODE", "round-robin"))) {
          frontend.await("/v1/models", "paced");
          measure("ours", frontend);
        }
        try (var frontend = installation.dynamo(FRONTEND_CORE)) {
          frontend.await("/v1/models", "paced");
          measure("Dynamo", frontend);
        }
      }
    }
  }

  private Server worker(Map<String, String> more) throws Exception {
    var settings = new HashMap<String, String>();
    settings.put("DYNAMO_WORKER_ENGINE", "mock");
    settings.put("DYNAMO_WORKER_MODEL_PATH", installation.model().toString());
    settings.put("DYNAMO_WORKER_MODEL_NAME", "tiny");
    settings.put("DYNAMO_WORKER_TOKEN_INTERVAL", "0s");
    settings.put("DYNAMO_WORKER_PREFILL_PER_TOKEN", "0s");
    settings.put("DYNAMO_WORKER_BLOCKS_PER_RANK", "16384");
    settings.put("DYNAMO_WORKER_BLOCK_BYTES", "64B");
    settings.putAll(more);
    return installation.ours("worker", OTHER_CORE, null, "worker", settings);
  }

  private static void measure(String who, Server frontend) throws Exception {
    for (var scenario : Stream.concat(WARMUP.stream(), SCENARIOS.stream()).toList()) {
      System.out.println("== " + who + ": " + scenario.name());
      var command =
          new ArrayList<>(
              List.of(
                  "taskset",
                  "-c",
                  OTHER_CORE,
                  Path.of(System.getProperty("java.home"), "bin", "java").toString()));
      command.addAll(
          List.of(
              source(),
              "--port",
              Integer.toString(frontend.port()),
              "--pid",
              Long.toString(frontend.pid())));
      command.addAll(scenario.options());
      run(command);
    }
  }

  private static String source() {
    return System.getProperty("user.dir")
        + File.separator
        + "frontend-war/src/bench/java/io/dynamo/frontend/load/FrontendLoad.java";
  }

  private static void run(List<String> command) throws Exception {
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      System.out.println("(ended with status " + status + ")");
    }
  }
}
