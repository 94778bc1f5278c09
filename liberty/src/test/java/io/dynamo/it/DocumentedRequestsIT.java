package io.dynamo.it;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every request in the pages, sent as documented to one server as it starts by default. */
class DocumentedRequestsIT {
  private static @TempDir Path folder;
  private static ServerProcess server;
  private static int statusPort;

  @BeforeAll
  static void start() throws Exception {
    statusPort = ServerProcess.freePort();
    server =
        ServerProcess.Plan.named("documents")
            .with("DYNAMO_WORKER_ENGINE", "llama")
            .with("DYN_SYSTEM_PORT", Integer.toString(statusPort))
            .with("DYN_LORA_ENABLED", "true")
            .start()
            .awaitReady();
    PlainAdapter.write(folder.resolve("adapters/support"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  static List<DocumentedBlock> blocks() throws IOException {
    return DocumentedBlock.of(DocumentedBlock.Kind.REQUESTS);
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void requestsAreAnsweredAsThePageSays(DocumentedBlock block, @TempDir Path work)
      throws Exception {
    assumeFalse(
        block.isPython() && List.of("", "skip").contains(System.getProperty("dynamo.it.peer", "")),
        "left out: -Ddynamo.it.peer names no Python environment with the SDKs");
    Polling.until(
        "the model is listed",
        Duration.ofSeconds(30),
        () -> server.get("/v1/models").body().contains('"' + Cluster.MODEL + '"'));
    try (var shell = new DocumentShell(work)) {
      shell
          .replacePort(8000, server.port())
          .replacePort(9090, statusPort)
          .replace("/adapters/", folder.resolve("adapters") + "/")
          .run(block);
    }
  }
}
