package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;

/**
 * How long a well-behaved client waits for its first token: one after the other, each on a new
 * connection, all with one prompt that the engine has cached but for its last token. Used by one
 * thread.
 */
final class FirstToken {
  private static final System.Logger LOG = System.getLogger(FirstToken.class.getName());
  private static final int PROBES = 25; // the median counts: others work on the machine too
  static final int BLOCK_TOKENS = 4; // what the engine caches at once

  private final ServerProcess server;
  private final String body;

  private FirstToken(ServerProcess server, String prompt) {
    this.server = server;
    this.body = body(prompt, true);
  }

  private static String body(String prompt, boolean stream) {
    return ChatClient.body(Cluster.MODEL, prompt, 2, stream);
  }

  /** Finds a prompt that is one token longer than whole blocks, and has it cached. */
  static FirstToken of(ServerProcess server) throws IOException {
    var prompt = "How long";
    int tokens = usage(server, prompt, "/usage/prompt_tokens");
    for (int tries = 0; tokens % BLOCK_TOKENS != 1; tries++) {
      assertThat(tries).as("words that were added").isLessThan(4 * BLOCK_TOKENS);
      prompt += tries % 2 == 0 ? " one" : "!";
      tokens = usage(server, prompt, "/usage/prompt_tokens");
    }
    assertThat(usage(server, prompt, "/usage/prompt_tokens_details/cached_tokens"))
        .isEqualTo(tokens - 1);
    return new FirstToken(server, prompt);
  }

  private static int usage(ServerProcess server, String prompt, String pointer) throws IOException {
    try (var client = server.chat(body(prompt, false))) {
      assertThat(client.status()).isEqualTo(200);
      return client.json().at(pointer).asInt(-1);
    }
  }

  /** The median time over many answers, every one of which must be whole. */
  Duration median(String during) throws IOException {
    var nanos = new long[PROBES];
    for (int i = 0; i < PROBES; i++) {
      nanos[i] = once();
    }
    Arrays.sort(nanos);
    LOG.log(
        Level.INFO,
        "first token, %s: median %.1f ms, 90 %% %.1f ms, worst %.1f ms"
            .formatted(
                during,
                nanos[PROBES / 2] / 1e6,
                nanos[PROBES * 9 / 10] / 1e6,
                nanos[PROBES - 1] / 1e6));
    return Duration.ofNanos(nanos[PROBES / 2]);
  }

  private long once() throws IOException {
    long asked = System.nanoTime();
    try (var client = server.chat(body)) {
      return client.events().stream()
              .filter(event -> !event.text().isEmpty())
              .findFirst()
              .orElseThrow()
              .arrivedNanos()
          - asked;
    }
  }
}
