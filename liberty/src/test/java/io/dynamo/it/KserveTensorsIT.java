package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Our frontend between Triton's client for Python and a worker on NVIDIA's own runtime that takes
 * tensors.
 */
@ManyServers
class KserveTensorsIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String MODEL = "echo-tensor";

  @TempDir Path store;
  @TempDir Path folder;

  @Test
  void tensorsTravelToDynamosWorkersAndBack() throws Exception {
    int port = ServerProcess.freePort();
    try (var worker = PeerProcess.script("tensor-worker", store, "tensor_worker.py");
        var ours =
            ServerProcess.Plan.named("tensor-ours")
                .with("DYN_DISCOVERY_BACKEND", "file")
                .with("DYN_FILE_KV", store.toString())
                .with("DYN_KSERVE_GRPC_SERVER", "true")
                .with("DYNAMO_GRPC_PORT", Integer.toString(port))
                .jvm("-Ddynamo.role=frontend")
                .start()) {
      ours.awaitReady();
      Polling.until(
          "the model is ready",
          LIMIT,
          () -> ours.get("/v2/models/" + MODEL + "/ready").statusCode() == 200);

      SdkScript.python("kserve_tensors.py")
          .run(folder, "http://127.0.0.1:" + ours.port(), MODEL, "127.0.0.1:" + port);

      SdkScript.describedWorkers().run(folder, ours.uri("").toString(), MODEL);

      assertThat(worker.console())
          .contains("\"t\": {\"string\": \"x\"}", "\"data_type\": \"Float16\", \"shape\": [1, 2]");
      Polling.until(
          "the cancelled request ends at the worker",
          LIMIT,
          () -> worker.console().contains("STOPPED"));
      assertThat(ours.post("/v2/models/" + MODEL + "/generate", "{\"text_input\":\"a\"}").body())
          .contains("takes tensors");
      assertThat(
              ours.post("/v1/completions", "{\"model\":\"%s\",\"prompt\":\"a\"}".formatted(MODEL))
                  .statusCode())
          .isEqualTo(404);
      assertThat(ours.messages()).doesNotContain("io.grpc");
    }
  }
}
