package io.dynamo.frontend.preprocess.jinja;

import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;

/**
 * Fuzz target: any chat template, rendered with a short conversation. It renders within its limits
 * or fails with a {@link JinjaException}.
 */
public final class TemplateFuzz {
  private static final int MAX_LENGTH = 1 << 16; // characters
  private static final JinjaTemplate.Limits LIMITS =
      new JinjaTemplate.Limits(
          Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), MAX_LENGTH, Duration.ofSeconds(1));
  private static final Map<String, Object> VALUES =
      Map.of(
          "messages",
          List.of(
              Map.of("role", "system", "content", "Be brief."),
              Map.of("role", "user", "content", "Hello {{ 1 }}", "n", 3)),
          "tools",
          List.of(Map.of("type", "function", "function", Map.of("name", "f"))),
          "add_generation_prompt",
          true,
          "bos_token",
          "<s>");

  private TemplateFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    try {
      var text =
          JinjaTemplate.compile(new String(input, StandardCharsets.UTF_8)).render(VALUES, LIMITS);
      if (text.length() > MAX_LENGTH) {
        throw new IllegalStateException("a text of " + text.length() + " characters");
      }
    } catch (JinjaException _) {
      // refused, as it should be
    }
  }
}
