package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Dynamo's switches of the frontend, by Dynamo's names, on one server that has them all. */
@Sampled
class SwitchesIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir static Path directory;
  private static ServerProcess server;

  @BeforeAll
  static void start() throws Exception {
    var template = directory.resolve("template.json");
    Files.writeString(
        template,
        "{\"model\":\"%s\",\"temperature\":0,\"max_completion_tokens\":7}"
            .formatted(Cluster.MODEL));
    server =
        ServerProcess.Plan.named("switches")
            .with("DYN_IGNORE_OPENAI_FE_UNSUPPORTED_FIELDS", "1")
            .with("DYN_ENABLE_FORCE_INCLUDE_USAGE", "1")
            .with("DYN_DISABLE_FRONTEND_NVEXT", "1")
            .with("DYN_CONTEXT_WINDOW", "1234")
            .with("DYN_MAX_OUTPUT_TOKENS", "99")
            .with("DYN_HTTP_SSE_KEEP_ALIVE_INTERVAL_MS", "40")
            .with("DYN_TYPO", "1")
            .with("DYNAMO_FRONTEND_REQUEST_TEMPLATE", template.toString())
            .with("DYNAMO_WORKER_TOKEN_INTERVAL", "300ms")
            .start()
            .awaitReady();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static ObjectNode request(boolean stream) throws IOException {
    var body = ChatClient.body(Cluster.MODEL, OracleText.prompt(1), 3, stream);
    return (ObjectNode) JSON.readTree(body);
  }

  private static JsonNode whole(ObjectNode request) throws IOException {
    try (var client = ChatClient.post(server.port(), request.toString())) {
      assertThat(client.status()).isEqualTo(200);
      return client.json();
    }
  }

  @Test
  void theListOfModelsTellsWhatTheOperatorSays() throws Exception {
    var model = JSON.readTree(server.get("/v1/models").body()).at("/data/0");
    assertThat(model.path("context_window").intValue()).isEqualTo(1234);
    assertThat(model.path("max_output_tokens").intValue()).isEqualTo(99);
  }

  @Test
  void unknownFieldsAreDropped() throws Exception {
    var request = request(false).put("verbosity", "low");
    request.putObject("nvext").putArray("extra_fields").add("worker_id");
    assertThat(whole(request).has("nvext")).isFalse();
    assertThat(server.messages()).contains("dynamo.frontend.nvext=false");
  }

  @Test
  void streamsTellTheirUsageAndFillTheirSilence() throws Exception {
    try (var client = ChatClient.post(server.port(), request(true).toString())) {
      var events = client.events();
      int first = 0;
      while (events.get(first).isComment()) {
        first++;
      }
      assertThat(events.subList(first, events.size())).anyMatch(ChatClient.Event::isComment);
      assertThat(events).anyMatch(event -> String.valueOf(event.data()).contains("\"usage\":{"));
    }
  }

  @Test
  void theTemplateFillsInWhatIsNotSaid() throws Exception {
    var request = request(false);
    request.remove("model");
    request.remove("max_tokens");
    var answer = whole(request);
    assertThat(answer.path("model").textValue()).isEqualTo(Cluster.MODEL);
    assertThat(answer.at("/usage/completion_tokens").intValue()).isEqualTo(7);
  }

  @Test
  void aVariableWithoutAnEffectIsNamedAtTheStart() {
    assertThat(server.messages())
        .containsPattern("have no effect here: (.*[,;] )?DYN_TYPO")
        .doesNotContainPattern("have no effect here:.*DYN_CONTEXT_WINDOW");
  }
}
