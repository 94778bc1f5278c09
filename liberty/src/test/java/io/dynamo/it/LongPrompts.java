package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Prompts of several KV blocks that differ from the first block on. */
final class LongPrompts {
  static final int COUNT = 8;

  private LongPrompts() {}

  /** Asks each of them once, one after the other; the cached tokens that each answer tells. */
  static List<Integer> askAll(int port) throws IOException {
    return askAll(port, Cluster.MODEL, "Number");
  }

  /** The same of any model; prompts of different subjects share no block. */
  static List<Integer> askAll(int port, String model, String subject) throws IOException {
    var cached = new ArrayList<Integer>();
    for (int i = 0; i < COUNT; i++) {
      var body = ChatClient.body(model, prompt(subject, i), 4, false);
      try (var client = ChatClient.post(port, body)) {
        assertThat(client.status()).isEqualTo(200);
        cached.add(client.json().at("/usage/prompt_tokens_details/cached_tokens").asInt(0));
      }
    }
    return cached;
  }

  /** Some hundred tokens: a space and a word at a time, each prompt in a stride of its own. */
  static String prompt(String subject, int number) {
    var words = List.of("one", "two", "three", "four", "five", "six", "seven", "eight", "nine");
    var text = new StringBuilder(subject + " " + number + " says");
    for (int i = 0; i < 48; i++) {
      text.append(' ').append(words.get((i * (number + 1) + number) % words.size()));
    }
    return text.toString();
  }
}
