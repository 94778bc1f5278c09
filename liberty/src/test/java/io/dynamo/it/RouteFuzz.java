package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Requests that Schemathesis makes from the description of the API, right and wrong ones, to a
 * server of all roles and workers of tasks and media on NVIDIA's own runtime, for {@code
 * -Ddynamo.fuzz.seconds}: none is answered by a server error, none waits longer than a client
 * would, and the server chats afterwards. {@code .ci/fuzz-routes} runs it.
 */
class RouteFuzz {
  private static final System.Logger LOG = System.getLogger(RouteFuzz.class.getName());
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int SECONDS = Integer.getInteger("dynamo.fuzz.seconds", 600);
  private static final Duration END = Duration.ofMinutes(3); // of an example that is made smaller
  private static final int ANSWER_SECONDS = 60;
  private static final Path REPORT =
      Path.of(System.getProperty("dynamo.it.work")).resolve("route-fuzz");

  /** 501 is a method of a route that has it by design, not a fault. */
  private static final String CONFIG =
      """
      [checks]
      not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "501"]
      """;

  /** Operators' commands, after which no worker would serve the other requests. */
  private static final List<String> COMMANDS = List.of("/worker/drain", "/busy_threshold");

  /**
   * The models that are no texts, by the schema of their requests; workers of Dynamo serve them.
   */
  private static final Map<String, String> MODELS =
      Map.of(
          "RerankRequest", "reranker",
          "ClassifyRequest", "classifier",
          "PoolingRequest", "pooler",
          "ImageRequest", "painter",
          "ImageForm", "painter",
          "VideoRequest", "filmer",
          "SpeechRequest", "speaker");

  @TempDir Path folder;

  @Test
  void requestsMadeFromTheDescriptionGetNoServerError() throws Exception {
    var config = Files.writeString(folder.resolve("schemathesis.toml"), CONFIG);
    Files.createDirectories(REPORT);
    var store = folder.resolve("store");
    try (var _ = script("fuzz-tasks", store, "task_workers.py");
        var _ = script("fuzz-media", store, "media_workers.py");
        var server =
            ServerProcess.Plan.named("route-fuzz")
                .with("DYN_DISCOVERY_BACKEND", "file")
                .with("DYN_FILE_KV", store.toString())
                .start()) {
      server.awaitReady();
      for (var model : MODELS.values()) {
        Polling.until(
            model + " is listed", END, () -> server.get("/v1/models").body().contains(model));
      }
      var output = REPORT.resolve("output.txt").toFile();
      var fuzz = fuzz(server, config, description(server), output);
      boolean ended = fuzz.waitFor(SECONDS + END.toSeconds(), TimeUnit.SECONDS);
      fuzz.destroyForcibly();
      LOG.log(Level.INFO, "what it did is in {0}", output);
      assertThat(ended).as("it ends in its time: %s", output).isTrue();
      assertThat(fuzz.exitValue()).as("requests that failed are in %s", output).isZero();
      assertThat(server.post("/v1/chat/completions", chat()).statusCode()).isEqualTo(200);
    }
  }

  private static PeerProcess script(String name, Path store, String program) throws IOException {
    return PeerProcess.script(name, store, program, PeerProcess.model().toString());
  }

  private static String chat() {
    return ChatClient.body(Cluster.MODEL, "Once upon a time", 8, false);
  }

  /** The server's own, without commands; right requests are for the model that is there. */
  private Path description(ServerProcess server) throws IOException, InterruptedException {
    var api = JSON.readTree(server.get("/openapi.json").body());
    ((ObjectNode) api.get("paths")).remove(COMMANDS);
    for (var model : api.findValues("model")) {
      if (model instanceof ObjectNode schema && schema.has("type")) {
        name(schema, Cluster.MODEL);
      }
    }
    for (var model : MODELS.entrySet()) {
      name(
          (ObjectNode) api.at("/components/schemas/" + model.getKey() + "/properties/model"),
          model.getValue());
    }
    for (var parameters : api.findValues("parameters")) {
      for (var parameter : parameters) {
        if (parameter.path("in").asText().equals("path")
            && parameter.path("name").asText().startsWith("model")) {
          name((ObjectNode) parameter.get("schema"), Cluster.MODEL);
        }
      }
    }
    return Files.write(folder.resolve("openapi.json"), JSON.writeValueAsBytes(api));
  }

  private static void name(ObjectNode schema, String model) {
    schema.removeAll();
    schema.put("type", "string").putArray("enum").add(model);
  }

  private static Process fuzz(ServerProcess server, Path config, Path description, File output)
      throws IOException {
    var command =
        List.of(
            System.getProperty("dynamo.fuzz.tool"),
            "--config-file",
            config.toString(),
            "run",
            description.toString(),
            "--url",
            "http://127.0.0.1:" + server.port(),
            "--checks",
            "not_a_server_error",
            "--max-time",
            Integer.toString(SECONDS),
            "--workers",
            "1",
            "--request-timeout",
            Integer.toString(ANSWER_SECONDS),
            "--continue-on-failure",
            "--suppress-health-check",
            "all");
    return new ProcessBuilder(command)
        .directory(REPORT.toFile())
        .redirectErrorStream(true)
        .redirectOutput(output)
        .start();
  }
}
