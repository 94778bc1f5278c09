package io.dynamo.cli;

import io.dynamo.config.OfflineSettings;
import io.dynamo.config.Role;
import io.dynamo.config.Settings;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.plane.DiscoverySettings;
import io.dynamo.config.plane.KubernetesSettings;
import io.dynamo.config.worker.EngineKind;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.file.FileDiscovery;
import io.dynamo.natives.NativeLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Checks whether a server would start, without starting one. For one thread. */
final class Inspection {
  private static final int CONNECT_MILLIS = 3000;
  private static final int HTTPS_PORT = 443;
  private static final int ETCD_PORT = 2379;

  /**
   * One thing that was looked at.
   *
   * @param text what was found; for a problem also what to do
   */
  record Finding(String about, boolean isProblem, String text) {}

  private final List<Finding> findings = new ArrayList<>();

  private Inspection() {}

  /** Looks at everything that {@code offline} configures. */
  static List<Finding> of(OfflineSettings offline) {
    var inspection = new Inspection();
    Settings settings;
    try {
      settings = offline.read();
    } catch (InvalidSettingsException e) {
      e.problems().forEach(problem -> inspection.problem("settings", problem));
      return List.copyOf(inspection.findings);
    }
    inspection.ok("settings", offline.count() + " keys are valid");
    var without = offline.variablesWithoutEffect();
    if (without != null) {
      inspection.ok("settings", "without effect here: " + without);
    }
    inspection.checkPorts(settings);
    inspection.checkNative();
    if (settings.server().roles().contains(Role.WORKER)) {
      inspection.checkEngines(settings);
    }
    inspection.checkDiscovery(settings.discovery());
    return List.copyOf(inspection.findings);
  }

  private void ok(String about, String text) {
    findings.add(new Finding(about, false, text));
  }

  private void problem(String about, String text) {
    findings.add(new Finding(about, true, text));
  }

  private void checkPorts(Settings settings) {
    checkPort(settings.server().httpHost(), settings.server().httpPort(), "dynamo.http.port");
    if (settings.status().isOn()) {
      checkPort(settings.status().host(), settings.status().port(), "dynamo.system.port");
    }
    var tcp = settings.tcp();
    if (settings.server().roles().contains(Role.WORKER)) {
      checkPort(tcp.host(), tcp.requestPort(), "dynamo.request.tcp.request-port");
    }
    if (settings.server().roles().contains(Role.FRONTEND)) {
      checkPort(tcp.responseHost(), tcp.responsePort(), "dynamo.request.tcp.response-port");
    }
  }

  private void checkPort(String host, int port, String key) {
    if (port == 0) {
      return; // the system chooses a free one
    }
    try (var socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getByName(host), port), 1);
      ok("port", "%s:%d is free (%s)".formatted(host, port, key));
    } catch (IOException | SecurityException e) {
      problem(
          "port",
          "%s:%d cannot be bound: %s; end the program that uses it, or set %s to another port"
              .formatted(host, port, e.getMessage(), key));
    }
  }

  private void checkNative() {
    var cause = NativeLibrary.cause();
    ok(
        "native",
        cause == null
            ? "the native library runs here"
            : "plain Java is used instead of the native library: " + cause);
  }

  private void checkEngines(Settings settings) {
    for (var worker : settings.workers()) {
      var config = worker.modelPath().resolve("config.json");
      if (!Files.isReadable(config)) {
        problem(
            "model",
            "%s cannot be read; set dynamo.worker.model-path to a folder with a model's files"
                .formatted(config));
      } else if (worker.engine() == EngineKind.LLAMA && !hasWeights(worker.modelPath())) {
        problem(
            "model",
            "%s has no *.safetensors; download the model's weights, or choose another engine with dynamo.worker.engine"
                .formatted(worker.modelPath()));
      } else {
        ok("model", "%s for the engine %s".formatted(worker.modelPath(), name(worker.engine())));
      }
      if (worker.process().command() != null) {
        continue; // the worker starts the engine's server itself
      }
      switch (worker.engine()) {
        case LLAMACPP ->
            worker
                .llamaCpp()
                .urls()
                .forEach(
                    url ->
                        checkConnections("engine", List.of(url), 80, "dynamo.worker.llamacpp.url"));
        case VLLM, SGLANG, TRTLLM, OPENAI ->
            checkConnections(
                "engine", List.of(worker.remote().url()), 80, "dynamo.worker.remote.url");
        case MOCK, LLAMA, ECHO -> {}
      }
    }
  }

  private static String name(EngineKind engine) {
    return engine.name().toLowerCase(Locale.ROOT);
  }

  private static boolean hasWeights(Path folder) {
    try (var files = Files.newDirectoryStream(folder, "*.safetensors")) {
      return files.iterator().hasNext();
    } catch (IOException _) {
      return false;
    }
  }

  /** One of the servers must accept connections. */
  private void checkConnections(String about, List<URI> servers, int standardPort, String key) {
    var faults = new ArrayList<String>();
    for (var server : servers) {
      int port = server.getPort() < 0 ? standardPort : server.getPort();
      try (var socket = new Socket()) {
        socket.connect(new InetSocketAddress(server.getHost(), port), CONNECT_MILLIS);
        ok(about, "%s accepts connections".formatted(server));
        return;
      } catch (IOException | IllegalArgumentException e) {
        faults.add("%s does not accept connections (%s)".formatted(server, e.getMessage()));
      }
    }
    problem(
        about, "%s; start the server there, or set %s".formatted(String.join(", ", faults), key));
  }

  private void checkKubernetes(KubernetesSettings kubernetes) {
    var server = kubernetes.apiServer();
    if (server == null) {
      ok("discovery", "Kubernetes: the API server of the service account is asked at the start");
    } else {
      checkConnections(
          "discovery", List.of(server), HTTPS_PORT, "dynamo.discovery.kubernetes.api-server");
    }
  }

  private void checkDiscovery(DiscoverySettings discovery) {
    switch (discovery.backend()) {
      case MEMORY -> ok("discovery", "memory: the server is alone");
      case ETCD ->
          checkConnections(
              "discovery",
              discovery.etcd().endpoints(),
              ETCD_PORT,
              "dynamo.discovery.etcd.endpoints");
      case KUBERNETES -> checkKubernetes(discovery.kubernetes());
      case FILE -> {
        try (var _ =
            new FileDiscovery(
                discovery.fileRoot(),
                discovery.fileShared(),
                discovery.leaseTtl(),
                new InstanceId(new SecureRandom().nextLong()),
                InstantSource.system())) {
          ok("discovery", "the folder %s can be used".formatted(discovery.fileRoot()));
        } catch (UncheckedIOException e) {
          problem("discovery", String.valueOf(e.getMessage()));
        }
      }
    }
  }
}
