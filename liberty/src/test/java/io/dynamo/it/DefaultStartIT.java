package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * The server as a first user sees it: its defaults, its small model and its engine, in a chat of
 * several turns.
 */
@BuildServer
class DefaultStartIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final URI SERVER = URI.create(System.getProperty("base.url"));
  private static final int BLOCK_TOKENS = 16;

  /** A streamed answer. */
  private record Turn(String id, String text, int pieces, JsonNode usage) {
    int promptTokens() {
      return usage.get("prompt_tokens").intValue();
    }

    int cachedTokens() {
      return usage.at("/prompt_tokens_details/cached_tokens").asInt(0);
    }
  }

  @Test
  void theSecondTurnOfAChatStreamsFromCachedTokensAndTheRouterSaysWhy() throws Exception {
    var messages = JSON.createArrayNode();
    say(messages, "system", "You are a helpful assistant.");
    say(messages, "user", "What is the capital of France, and what is it known for?");
    var first = ask(messages);
    assertThat(first.text()).contains("Paris");
    assertThat(first.pieces()).as("it streams").isGreaterThan(1);
    var firstDecision = RoutedChat.explain(SERVER, first.id());
    assertThat(firstDecision.get("mode").asText()).isEqualTo("kv");
    assertThat(firstDecision.get("prompt_tokens").intValue()).isEqualTo(first.promptTokens());

    say(messages, "assistant", first.text());
    say(messages, "user", "And of Italy?");
    awaitHeld(messages, first.promptTokens() / BLOCK_TOKENS);
    var second = ask(messages);

    assertThat(second.text()).isNotBlank();
    assertThat(second.pieces()).isGreaterThan(1);
    assertThat(second.promptTokens()).isGreaterThan(first.promptTokens());
    assertThat(second.cachedTokens())
        .as("the first turn is not computed again")
        .isGreaterThanOrEqualTo(first.promptTokens() / BLOCK_TOKENS * BLOCK_TOKENS)
        .isLessThan(second.promptTokens());
    var decision = RoutedChat.explain(SERVER, second.id());
    assertThat(RoutedChat.Rank.of(decision.get("chosen")))
        .isEqualTo(RoutedChat.Rank.of(firstDecision.get("chosen")));
    assertThat(decision.get("reason").asText()).isEqualTo("least_cost");
    assertThat(decision.get("narrowed_by").asText()).isEqualTo("none");
    assertThat(RoutedChat.of(decision).believedTokens()).isEqualTo(second.cachedTokens());
  }

  private static void say(ArrayNode messages, String role, String content) {
    messages.addObject().put("role", role).put("content", content);
  }

  private static String body(ArrayNode messages, boolean stream) {
    var body = JSON.createObjectNode();
    body.put("model", Cluster.MODEL).put("max_tokens", 48).put("stream", stream);
    if (stream) {
      body.putObject("stream_options").put("include_usage", true);
    }
    return body.set("messages", messages).toString();
  }

  private static Turn ask(ArrayNode messages) throws Exception {
    try (var client = ChatClient.post(SERVER.getPort(), body(messages, true))) {
      var text = new StringBuilder();
      int pieces = 0;
      JsonNode last = null;
      for (var event : client.events()) {
        if (event.data() != null && !event.isDone()) {
          last = JSON.readTree(event.data());
        }
        pieces += event.text().isEmpty() ? 0 : 1;
        text.append(event.text());
      }
      var chunk = Objects.requireNonNull(last);
      var id = chunk.get("id").asText().replaceFirst("^chatcmpl-", "");
      return new Turn(id, text.toString(), pieces, chunk.get("usage"));
    }
  }

  /** A user who types is slower than the events of the first turn; this waits for them instead. */
  private static void awaitHeld(ArrayNode messages, int blocks) {
    Polling.until(
        "the router has heard of the first turn",
        Duration.ofSeconds(10),
        () ->
            RoutedChat.probe(SERVER, body(messages, false)).overlaps().values().stream()
                .anyMatch(held -> held >= blocks));
  }
}
