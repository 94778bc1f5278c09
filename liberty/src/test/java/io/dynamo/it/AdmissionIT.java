package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Requests that find no room are refused at once with a time to come back; running ones are not
 * disturbed.
 */
class AdmissionIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int INSIDE = 2;
  private static final int TOKENS = 300;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess server;

  @SuppressWarnings("NullAway.Init") // before all
  private static OracleText oracle;

  @BeforeAll
  static void start() throws Exception {
    oracle = OracleText.ofShippedModel();
    var plan =
        ServerProcess.Plan.named("admission")
            .with("DYNAMO_FRONTEND_ADMISSION_MODELS", Cluster.MODEL + "=" + INSIDE + "/0/1s")
            .with("DYN_HTTP_BODY_LIMIT_MB", "1")
            .with("DYNAMO_WORKER_RANKS", "1")
            .with("DYNAMO_WORKER_TOKEN_INTERVAL", "20ms");
    server = plan.start().awaitReady();
    Polling.until(
        "the model is served",
        LIMIT,
        () -> server.get("/v1/models").body().contains(Cluster.MODEL));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static HttpResponse<String> ask() throws Exception {
    var body = ChatClient.body(Cluster.MODEL, OracleText.prompt(9), 2, false);
    return server.post("/v1/chat/completions", body);
  }

  private static HttpResponse<String> thresholds(String members) throws Exception {
    return server.post(
        "/busy_threshold", "{\"model\":\"%s\",%s}".formatted(Cluster.MODEL, members));
  }

  private static void assertRefused(HttpResponse<String> answer, int status) {
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.headers().firstValueAsLong("retry-after").orElse(0)).isBetween(1L, 60L);
    assertThat(answer.body()).contains("\"code\":\"overloaded\"");
  }

  @Test
  void requestBeyondTheLimitIsRefusedWithoutDisturbingOthers() throws Exception {
    try (var crowd = Crowd.ask(server, 0, INSIDE, TOKENS)) {
      crowd.awaitFlowing();
      assertRefused(ask(), 429);
      crowd.endsAs(oracle, TOKENS);
    }
    assertThat(ask().statusCode()).isEqualTo(200);
    ServerFacts.awaitMetric(server, "dynamo_frontend_admission_refused_total", "queue_full", 1);
    for (var level : new String[] {"inflight", "queued", "admission_waiting"}) {
      ServerFacts.awaitMetric(server, "dynamo_frontend_" + level + "_requests", "", 0);
    }
  }

  @Test
  void whenAllWorkersAreBusyByTheThresholdsNobodyIsLetIn() throws Exception {
    try (var crowd = Crowd.ask(server, 2, 1, 10 * TOKENS)) {
      crowd.awaitFlowing();
      var set = thresholds("\"active_decode_blocks_threshold\":0.0");
      assertThat(set.statusCode()).isEqualTo(200);
      assertThat(server.get("/busy_threshold").body())
          .contains("\"active_decode_blocks_threshold\":0.0");
      Polling.until("the worker has reported its load", LIMIT, () -> ask().statusCode() == 529);
      assertRefused(ask(), 529);
    }
    assertThat(thresholds("\"active_decode_blocks_threshold\":\"off\"").body())
        .contains("\"active_decode_blocks_threshold\":null");
    assertThat(ask().statusCode()).isEqualTo(200);
  }

  @Test
  void aBodyThatGrowsBeyondTheLimitIs413WithBothNumbers() throws Exception {
    var long1 = new byte[(1 << 20) + 1];
    var chunked =
        server.post(
            "/v1/chat/completions",
            HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(long1)));
    assertThat(chunked.statusCode()).isEqualTo(413);
    assertThat(chunked.body())
        .contains("more than 1048576 bytes exceeds the limit of 1048576 bytes");
    var declared =
        server.post("/v1/chat/completions", HttpRequest.BodyPublishers.ofByteArray(long1));
    assertThat(declared.statusCode()).isEqualTo(413);
    assertThat(declared.body()).contains("1048577", "1048576");
  }
}
