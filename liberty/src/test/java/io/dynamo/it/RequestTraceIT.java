package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Records of requests on a whole server, and NVIDIA's own replay of them; that is left out without
 * the Python environment that {@code -Ddynamo.it.peer} names.
 */
class RequestTraceIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int REQUESTS = 6;

  @TempDir Path folder;

  private static void post(ServerProcess server, String path, String body, String... headers)
      throws Exception {
    var request =
        HttpRequest.newBuilder(server.uri(path))
            .timeout(LIMIT)
            .header("content-type", "application/json")
            .header("x-request-id", "trace-me")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    var answer = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private List<JsonNode> records() throws IOException {
    var records = new ArrayList<JsonNode>();
    try (var files = Files.list(folder)) {
      for (var file : files.filter(it -> it.toString().endsWith(".jsonl")).sorted().toList()) {
        for (var line : Files.readAllLines(file)) {
          records.add(JSON.readTree(line).get("event"));
        }
      }
    }
    return records;
  }

  @Test
  void eachGenerationLeavesARecordThatDynamoReplays() throws Exception {
    try (var server =
        ServerProcess.Plan.named("request-trace")
            .with("DYN_REQUEST_TRACE", "1")
            .with("DYN_REQUEST_TRACE_SINKS", "file")
            .with("DYN_REQUEST_TRACE_FILE_PATH", folder.resolve("trace").toString())
            .with("DYN_REQUEST_TRACE_FILE_FORMAT", "jsonl")
            .with("DYN_REQUEST_TRACE_FILE_FLUSH_INTERVAL_MS", "50")
            .start()
            .awaitReady()) {
      for (int i = 0; i < REQUESTS / 2; i++) {
        post(server, "/v1/chat/completions", ChatClient.body(Cluster.MODEL, "Hello " + i, 8, true));
        post(
            server,
            "/v1/completions",
            "{\"model\":\"%s\",\"prompt\":\"secret words\",\"max_tokens\":4}"
                .formatted(Cluster.MODEL));
      }
      Polling.until("all records are there", LIMIT, () -> records().size() == REQUESTS);

      var records = records();
      assertThat(records)
          .allSatisfy(
              it -> {
                assertThat(it.get("schema").asText()).isEqualTo("dynamo.request.trace.v1");
                assertThat(it.at("/request/model").asText()).isEqualTo(Cluster.MODEL);
                assertThat(it.at("/request/x_request_id").asText()).isEqualTo("trace-me");
                assertThat(it.at("/request/ttft_ms").asDouble()).isPositive();
                assertThat(it.toString()).doesNotContain("secret", "Hello");
              });
      assertThat(records.getFirst().at("/request/output_tokens").asInt()).isEqualTo(8);
    }
    try (var files = Files.list(folder)) {
      var trace = files.filter(it -> it.toString().endsWith(".jsonl")).findFirst().orElseThrow();
      SdkScript.python("request_replay.py")
          .run(folder, "", trace.toString(), Integer.toString(REQUESTS));
    }
  }

  @Test
  void usesOfToolsAreRecordedBesideTheGenerationsOfTheirSession() throws Exception {
    int port = ServerProcess.freePort();
    try (var server =
        ServerProcess.Plan.named("tool-trace")
            .with("DYN_REQUEST_TRACE", "1")
            .with("DYN_REQUEST_TRACE_FILE_PATH", folder.resolve("trace").toString())
            .with("DYN_REQUEST_TRACE_FILE_FORMAT", "jsonl")
            .with("DYN_REQUEST_TRACE_FILE_FLUSH_INTERVAL_MS", "50")
            .with("DYN_REQUEST_TRACE_TOOL_EVENTS_ZMQ_ENDPOINT", "tcp://127.0.0.1:" + port)
            .start()
            .awaitReady()) {
      SdkScript.python("tool_reports.py").run(folder, "", "tcp://127.0.0.1:" + port);
      Polling.until("both records are there", LIMIT, () -> records().size() == 2);

      var records = records();
      assertThat(records)
          .extracting(it -> it.get("event_type").asText())
          .containsExactly("tool_start", "tool_end");
      assertThat(records.getLast().at("/agent_context/session_id").asText()).isEqualTo("s1");
      assertThat(records.getLast().at("/tool/duration_ms").asDouble()).isEqualTo(12.5);

      post(
          server,
          "/v1/chat/completions",
          ChatClient.body(Cluster.MODEL, "Go on", 4, true),
          "x-dynamo-session-id",
          "s1");
      Polling.until("the answer's record is there", LIMIT, () -> records().size() == 3);
      assertThat(records().getLast().at("/agent_context/session_id").asText()).isEqualTo("s1");
    }
  }
}
