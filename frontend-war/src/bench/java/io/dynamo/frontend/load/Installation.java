package io.dynamo.frontend.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The packaged server and Dynamo's packages, ready to start servers that find each other through
 * one folder. One thread.
 */
final class Installation implements AutoCloseable {
  private static final String SERVER = "wlp/usr/servers/dynamo"; // of the package
  private static final String MODEL = "tiny";

  private final Path work;
  private final Path launcher;
  private final Path python;
  private final Path model;

  private Installation(Path work, Path launcher, Path python) {
    this.work = work;
    this.launcher = launcher;
    this.python = python;
    this.model = work.resolve(MODEL);
  }

  /**
   * Unpacks the server to a new folder.
   *
   * @param built the folder {@code liberty/target} after {@code mvn package}
   * @param environment a Python environment with ai-dynamo 1.6.1
   */
  static Installation unpacked(Path built, Path environment) throws Exception {
    var at =
        new Installation(
            Files.createTempDirectory("dynamo-bench"),
            built.toAbsolutePath().resolve("liberty/wlp/bin/server"),
            environment.toAbsolutePath().resolve("bin/python"));
    var archive = built.toAbsolutePath().resolve("liberty-0.1.0-SNAPSHOT.zip").toString();
    run(List.of("unzip", "-q", archive, "-d", at.work.toString()));
    Server.copy(at.work.resolve(SERVER).resolve("models").resolve(MODEL), at.model);
    return at;
  }

  /** The folder that is deleted with this. */
  Path work() {
    return work;
  }

  /** The model of all workers. */
  Path model() {
    return model;
  }

  /**
   * Starts a server of ours.
   *
   * @param cores that it may use; null for all
   * @param ear in place of the packaged one; null for that
   */
  Server ours(String name, String cores, Path ear, String roles, Map<String, String> settings)
      throws Exception {
    var user = Files.createTempDirectory(work, name);
    Files.createDirectory(user.resolve("servers"));
    Server.copy(work.resolve(SERVER), user.resolve("servers").resolve(name));
    if (ear != null) {
      Files.copy(
          ear,
          user.resolve("servers").resolve(name).resolve("apps/dynamo.ear"),
          StandardCopyOption.REPLACE_EXISTING);
    }
    int port = Server.freePort();
    var variables = planes();
    variables.put("JAVA_HOME", System.getProperty("java.home"));
    variables.put("WLP_USER_DIR", user.toString());
    variables.put("WLP_SKIP_BOOTSTRAP_AGENT", "true"); // as bin/dynamo
    variables.put("DYNAMO_ROLES", roles);
    variables.put("DYN_HTTP_PORT", Integer.toString(port));
    variables.putAll(settings);
    return Server.start(
        name, port, cores, user, variables, List.of(launcher.toString(), "run", name));
  }

  /** Starts Dynamo's frontend. */
  Server dynamo(String cores) throws IOException {
    int port = Server.freePort();
    return python(
        "dynamo",
        port,
        cores,
        List.of(
            "-m",
            "dynamo.frontend",
            "--http-port",
            Integer.toString(port),
            "--router-mode",
            "round-robin"));
  }

  /** Starts one process of Dynamo's mocker with {@code workers} workers at their own pace. */
  Server mocker(String cores, int workers) throws IOException {
    return python(
        "mocker",
        0,
        cores,
        List.of(
            "-m",
            "dynamo.mocker",
            "--model-path",
            model.toString(),
            "--model-name",
            MODEL,
            "--speedup-ratio",
            "1",
            "--num-workers",
            Integer.toString(workers)));
  }

  private Server python(String name, int port, String cores, List<String> arguments)
      throws IOException {
    var command = new java.util.ArrayList<>(List.of(python.toString()));
    command.addAll(arguments);
    return Server.start(name, port, cores, work, planes(), command);
  }

  /** Starts haproxy, which passes everything on to {@code port}. */
  Server proxy(String cores, int port) throws IOException {
    int own = Server.freePort();
    var settings = work.resolve("haproxy.cfg");
    Files.writeString(
        settings,
        """
        global
          maxconn 8192
        defaults
          mode http
          option http-no-delay
          timeout connect 10s
          timeout client 120s
          timeout server 120s
        listen pass
          bind 127.0.0.1:%d
          server one 127.0.0.1:%d
        """
            .formatted(own, port));
    return Server.start(
        "haproxy",
        own,
        cores,
        work,
        Map.of(),
        List.of("haproxy", "-db", "-f", settings.toString()));
  }

  private Map<String, String> planes() {
    var variables = new HashMap<String, String>();
    variables.put("DYN_DISCOVERY_BACKEND", "file");
    variables.put("DYN_FILE_KV", work.resolve("discovery").toString());
    variables.put("DYN_REQUEST_PLANE", "tcp");
    variables.put("DYN_EVENT_PLANE", "zmq");
    variables.put("DYN_TCP_RPC_HOST", "127.0.0.1");
    variables.put("DYN_EVENT_PLANE_HOST", "127.0.0.1");
    variables.put("HF_HUB_OFFLINE", "1");
    return variables;
  }

  static void run(List<String> command) throws Exception {
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException("%s ended with status %d".formatted(command.getFirst(), status));
    }
  }

  @Override
  public void close() throws Exception {
    run(List.of("rm", "-rf", work.toString()));
  }
}
