package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Our frontend before workers on NVIDIA's own runtime that take bodies: rerank, classify, pooling,
 * chats.
 */
@ManyServers
@Sampled
class TaskPeerIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path store;
  @TempDir Path folder;

  @Test
  void dynamosTextWorkersServeOurClients() throws Exception {
    try (var worker =
            PeerProcess.script(
                "task-workers", store, "task_workers.py", PeerProcess.model().toString());
        var ours =
            ServerProcess.Plan.named("task-ours")
                .with("DYN_DISCOVERY_BACKEND", "file")
                .with("DYN_FILE_KV", store.toString())
                .jvm("-Ddynamo.role=frontend")
                .start()) {
      ours.awaitReady();
      for (var model : new String[] {"reranker", "classifier", "pooler", "texter"}) {
        Polling.until(
            model + " is listed",
            LIMIT,
            () -> ours.get("/v1/models").body().contains("\"" + model + "\""));
      }

      var reranked =
          ours.post(
              "/v1/rerank",
              "{\"model\":\"reranker\",\"query\":\"q\",\"documents\":[\"a\",\"bb\"],\"top_n\":1}");
      assertThat(reranked.statusCode()).as(reranked.body()).isEqualTo(200);
      assertThat(reranked.body())
          .isEqualTo(
              "[{\"score\":1.0,\"index\":0,\"document\":\"a\"},"
                  + "{\"score\":0.5,\"index\":1,\"document\":\"bb\"}]");
      assertThat(ours.post("/v1/classify", "{\"model\":\"classifier\",\"input\":\"a\"}").body())
          .contains("\"probs\":[0.25,0.75]");
      assertThat(ours.post("/v1/pooling", "{\"model\":\"pooler\",\"input\":[1,2]}").body())
          .contains("\"data\":[0.5,-0.25]");
      var bytes =
          ours.post(
              "/v1/pooling",
              "{\"model\":\"pooler\",\"input\":\"a\",\"encoding_format\":\"bytes\"}");
      assertThat(bytes.statusCode()).as(bytes.body()).isEqualTo(200);
      assertThat(bytes.headers().firstValue("content-type")).contains("application/octet-stream");
      assertThat(bytes.headers().firstValue("metadata").orElse("")).contains("\"shape\":[2]");
      Polling.until(
          "the worker got the bodies",
          LIMIT,
          () ->
              worker.console().contains("\"top_n\": 1, \"return_documents\": true")
                  && worker.console().contains("\"encoding_format\": \"float\""));

      var said =
          ours.post(
              "/v1/chat/completions",
              "{\"model\":\"texter\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
      assertThat(said.statusCode()).as(said.body()).isEqualTo(200);
      assertThat(said.body()).contains("\"content\":\"Text worker\"");
      assertThat(
              ours.post(
                      "/v1/completions", "{\"model\":\"texter\",\"prompt\":\"hi\",\"stream\":true}")
                  .body())
          .contains("\"text\":\"worker\"")
          .endsWith("data: [DONE]\n\n");

      SdkScript.describedWorkers()
          .run(folder, ours.uri("").toString(), "reranker", "classifier", "pooler", "texter");

      var refused =
          ours.post(
              "/v1/rerank", "{\"model\":\"reranker\",\"query\":\"fail\",\"documents\":[\"a\"]}");
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(500);
      assertThat(ours.post("/v1/classify", "{\"model\":\"pooler\",\"input\":\"a\"}").statusCode())
          .isEqualTo(404);
      assertThat(
              ours.post("/v1/completions", "{\"model\":\"pooler\",\"prompt\":\"a\"}").statusCode())
          .isEqualTo(404);
      assertThat(ours.post("/tokenize", "{\"model\":\"pooler\",\"prompt\":\"a\"}").statusCode())
          .isEqualTo(400);
    }
  }
}
