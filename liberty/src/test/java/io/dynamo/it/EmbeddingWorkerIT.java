package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers of ours embed, behind NVIDIA's frontend and with llama.cpp's server. */
@ManyServers
@Sampled
class EmbeddingWorkerIT {
  private static final String MODEL = Cluster.MODEL;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String ONE = "{\"model\":\"tiny\",\"input\":\"Hello\"}";
  private static final String CHAT =
      "{\"model\":\"tiny\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";

  @TempDir Path store;
  @TempDir Path folder;

  @Test
  void dynamosFrontendsServeOurVectorsBesideOurTexts() throws Exception {
    try (var worker =
            ServerProcess.Plan.named("embedding-worker-ours")
                .with("DYNAMO_WORKER_ENGINE", "llama")
                .with("DYNAMO_WORKER_RANKS", "1")
                .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
                .with("DYN_DISCOVERY_BACKEND", "file")
                .with("DYN_FILE_KV", store.toString())
                .jvm("-Ddynamo.role=worker")
                .start();
        // of all modes the one in which it answers 500 before embedding workers of its own
        var theirs = PeerProcess.frontend("embedding-theirs", store, "--router-mode", "kv")) {
      worker.awaitReady();
      Polling.until(
          "embeddings are served",
          LIMIT,
          () -> theirs.post("/v1/embeddings", ONE).statusCode() == 200);

      SdkScript.python("openai_vectors.py").run(folder, "http://127.0.0.1:" + theirs.port());

      assertThat(theirs.post("/v1/chat/completions", CHAT).statusCode()).isEqualTo(200);
      assertThat(theirs.get("/v1/models").body()).containsOnlyOnce("\"id\":\"" + MODEL + '"');
    }
  }

  @Test
  void llamaCppEmbedsForAWorkerThatStartsIt() throws Exception {
    var llamaCpp = LlamaServer.atFreePort(2);
    try (var server =
        ServerProcess.Plan.named("embedding-llama-cpp")
            .with("DYNAMO_WORKER_ENGINE", "llamacpp")
            .with("DYN_ENDPOINT_TYPES", "embedding")
            .with("DYNAMO_WORKER_LLAMACPP_URL", llamaCpp.address())
            .with("DYNAMO_WORKER_PROCESS_COMMAND", llamaCpp.embedderCommand("last"))
            .start()) {
      server.awaitReady();
      awaitEmbeddings(server);

      SdkScript.python("openai_vectors.py").run(folder, server.uri("").toString());

      assertThat(server.post("/v1/chat/completions", CHAT).statusCode()).isEqualTo(404);
      llamaCpp.process(server).destroyForcibly();
      awaitEmbeddings(server); // its server was started again
    }
  }

  private static void awaitEmbeddings(ServerProcess server) {
    Polling.until(
        "embeddings are served",
        LIMIT,
        () -> server.post("/v1/embeddings", ONE).statusCode() == 200);
  }
}
