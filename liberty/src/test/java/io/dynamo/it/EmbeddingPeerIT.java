package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our frontend before an embedding worker on NVIDIA's own runtime, asked by OpenAI's SDK. */
@ManyServers
class EmbeddingPeerIT {
  private static final String MODEL = "embedder";
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path store;
  @TempDir Path folder;

  @Test
  void dynamosEmbeddingWorkersServeOurClients() throws Exception {
    try (var _ =
            PeerProcess.script(
                "embedding-worker",
                store,
                "embedding_worker.py",
                PeerProcess.model().toString(),
                MODEL);
        var ours =
            ServerProcess.Plan.named("embedding-ours")
                .with("DYN_DISCOVERY_BACKEND", "file")
                .with("DYN_FILE_KV", store.toString())
                .jvm("-Ddynamo.role=frontend")
                .start()) {
      ours.awaitReady();
      Polling.until("the model is listed", LIMIT, () -> models(ours).body().contains(MODEL));

      SdkScript.python("openai_embeddings.py").run(folder, ours.uri("").toString(), MODEL);

      assertThat(
              ours.post(
                      "/v1/chat/completions",
                      "{\"model\":\"embedder\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}")
                  .statusCode())
          .isEqualTo(404);
    }
  }

  private static HttpResponse<String> models(ServerProcess server) throws Exception {
    return server.get("/v1/models");
  }
}
