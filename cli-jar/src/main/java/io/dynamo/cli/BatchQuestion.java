package io.dynamo.cli;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Asks one model for the answers to texts. Safe for concurrent use. */
record BatchQuestion(ServerClient client, String model, int maxTokens) {
  private static final Set<Integer> FULL = Set.of(429, 503, 529);
  private static final int MOST_TRIES = 6;

  /**
   * The answer to one text.
   *
   * @param line of the file of answers
   */
  record Answer(Map<String, @Nullable Object> line, int tokensIn, int tokensOut) {
    boolean isFailed() {
      return line.containsKey("error");
    }
  }

  /** Waits for an answer. A server that is full is asked again, six times within half a minute. */
  Answer answer(String text) throws InterruptedException {
    var body =
        Json.write(
            JsonObject.ordered(
                "model",
                model,
                "messages",
                List.of(JsonObject.ordered("role", "user", "content", text)),
                "max_tokens",
                maxTokens));
    long begin = System.nanoTime();
    var given = client.post("/v1/chat/completions", body);
    for (int tries = 1; FULL.contains(given.status()) && tries < MOST_TRIES; tries++) {
      TimeUnit.SECONDS.sleep(1L << (tries - 1));
      given = client.post("/v1/chat/completions", body);
    }
    if (given.status() != 200) {
      return failed(text, given.status() + ServerClient.message(given.text()));
    }
    try {
      var answer = Json.readObject(given.text().getBytes(StandardCharsets.UTF_8));
      return answered(text, answer, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    } catch (IllegalArgumentException e) {
      return failed(text, "the server's answer is no chat completion: " + e.getMessage());
    }
  }

  private static Answer failed(String text, String error) {
    return new Answer(JsonObject.ordered("text", text, "error", error), 0, 0);
  }

  private static Answer answered(String text, JsonObject answer, long millis) {
    var choices = answer.optionalObjects("choices");
    if (choices.isEmpty()) {
      throw new IllegalArgumentException("it has no choices");
    }
    var usage = answer.object("usage");
    int tokensIn = usage.count("prompt_tokens");
    int tokensOut = usage.count("completion_tokens");
    var choice = choices.getFirst();
    var line = new LinkedHashMap<String, @Nullable Object>();
    line.put("text", text);
    line.put("response", choice.object("message").optionalText("content"));
    line.put("tokens_in", tokensIn);
    line.put("tokens_out", tokensOut);
    line.put("elapsed_ms", millis);
    line.put("finish_reason", choice.optionalText("finish_reason"));
    line.put("request_id", answer.optionalText("id"));
    return new Answer(line, tokensIn, tokensOut);
  }
}
