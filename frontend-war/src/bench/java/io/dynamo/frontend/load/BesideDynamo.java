package io.dynamo.frontend.load;

import java.io.File;
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
  private static final String SERVER = "wlp/usr/servers/dynamo"; // of the package
  private static final int CONTEXT = 1 << 18;
  private static final Map<String, String> PACED =
      Map.of(
          "DYNAMO_WORKER_MODEL_NAME",
          "paced",
          "DYNAMO_WORKER_COMPONENT",
          "paced",
          "DYNAMO_WORKER_TOKEN_INTERVAL",
          "20ms");

  /** What is asked. */
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

  private final Path work;
  private final Path launcher;
  private final Path python;
  private final Path model;

  private BesideDynamo(Path work, Path launcher, Path python, Path model) {
    this.work = work;
    this.launcher = launcher;
    this.python = python;
    this.model = model;
  }

  public static void main(String[] args) throws Exception {
    if (args.length < 2) {
      System.err.println("usage: BesideDynamo liberty/target PYTHON-ENVIRONMENT [rounds]");
      System.exit(2);
    }
    int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 2;
    var work = Files.createTempDirectory("beside-dynamo");
    var built = Path.of(args[0]).toAbsolutePath();
    run(
        List.of(
            "unzip",
            "-q",
            built.resolve("liberty-0.1.0-SNAPSHOT.zip").toString(),
            "-d",
            work.toString()));
    var model = work.resolve("tiny");
    Server.copy(work.resolve(SERVER).resolve("models/tiny"), model);
    var config = model.resolve("config.json");
    Files.writeString(
        config,
        Files.readString(config)
            .replaceAll("(\"max_position_embeddings\":\\s*)\\d+", "$1" + CONTEXT));
    var tokenizer = model.resolve("tokenizer_config.json");
    Files.writeString(
        tokenizer,
        Files.readString(tokenizer).replaceAll("(\"model_max_length\":\\s*)\\d+", "$1" + CONTEXT));
    new BesideDynamo(
            work,
            built.resolve("liberty/wlp/bin/server"),
            Path.of(args[1], "bin", "python").toAbsolutePath(),
            model)
        .compare(rounds);
    run(List.of("rm", "-rf", work.toString()));
  }

  private void compare(int rounds) throws Exception {
    try (var worker = ours("worker", OTHER_CORE, Map.of());
        var paced = ours("worker", OTHER_CORE, PACED)) {
      worker.await("/health/ready", "UP");
      paced.await("/health/ready", "UP");
      for (int round = 0; round < rounds; round++) {
        try (var frontend =
            ours("frontend", FRONTEND_CORE, Map.of("DYN_ROUTER_MODE", "round-robin"))) {
          frontend.await("/v1/models", "paced");
          measure("ours", frontend);
        }
        try (var frontend = dynamo()) {
          frontend.await("/v1/models", "paced");
          measure("Dynamo", frontend);
        }
      }
    }
  }

  private Map<String, String> planes() {
    var environment = new HashMap<String, String>();
    environment.put("DYN_DISCOVERY_BACKEND", "file");
    environment.put("DYN_FILE_KV", work.resolve("discovery").toString());
    environment.put("DYN_REQUEST_PLANE", "tcp");
    environment.put("DYN_EVENT_PLANE", "zmq");
    environment.put("DYN_TCP_RPC_HOST", "127.0.0.1");
    environment.put("HF_HUB_OFFLINE", "1");
    return environment;
  }

  private Server ours(String role, String cores, Map<String, String> more) throws Exception {
    var user = Files.createTempDirectory(work, role);
    Files.createDirectory(user.resolve("servers"));
    Server.copy(work.resolve(SERVER), user.resolve("servers/" + role));
    int port = Server.freePort();
    var environment = planes();
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("WLP_USER_DIR", user.toString());
    environment.put("DYNAMO_ROLES", role);
    environment.put("DYN_HTTP_PORT", Integer.toString(port));
    environment.put("DYNAMO_WORKER_ENGINE", "mock");
    environment.put("DYNAMO_WORKER_MODEL_PATH", model.toString());
    environment.put("DYNAMO_WORKER_MODEL_NAME", "tiny");
    environment.put("DYNAMO_WORKER_TOKEN_INTERVAL", "0s");
    environment.put("DYNAMO_WORKER_PREFILL_PER_TOKEN", "0s");
    environment.put("DYNAMO_WORKER_BLOCKS_PER_RANK", "16384");
    environment.put("DYNAMO_WORKER_BLOCK_BYTES", "64B");
    environment.putAll(more);
    return Server.start(
        role, port, cores, user, environment, List.of(launcher.toString(), "run", role));
  }

  private Server dynamo() throws Exception {
    int port = Server.freePort();
    var command =
        List.of(
            python.toString(),
            "-m",
            "dynamo.frontend",
            "--http-port",
            Integer.toString(port),
            "--router-mode",
            "round-robin");
    return Server.start("dynamo", port, FRONTEND_CORE, work, planes(), command);
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
