package io.dynamo.frontend.load;

import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * The prompts of one client: words drawn by a seed, so that every frontend is asked the same. One
 * thread.
 */
final class Chat {
  private static final String[] WORDS = {
    "the", "worker", "holds", "a", "block", "of", "tokens", "and", "its", "router", "knows",
    "which", "prefix", "is", "where", "now"
  };

  private final Options options;
  private final Random random;
  private final StringBuilder messages = new StringBuilder();
  private int turn;

  Chat(Options options, long seed) {
    this.options = options;
    this.random = new Random(seed);
  }

  /** The next request, head and body. A chat of several turns repeats all that was said before. */
  byte[] next() {
    if (turn++ % options.turns() == 0) {
      messages.setLength(0);
    } else {
      messages.append(",{\"role\":\"assistant\",\"content\":\"Yes.\"},");
    }
    messages.append("{\"role\":\"user\",\"content\":\"").append(random.nextInt(1 << 30));
    int words =
        turn % options.turns() == 1 || options.turns() == 1
            ? options.words()
            : Math.min(options.words(), 20);
    for (int i = 0; i < words; i++) {
      messages.append(' ').append(WORDS[random.nextInt(WORDS.length)]);
    }
    messages.append("\"}");
    var body =
        "{\"model\":\"%s\",\"stream\":%s,%s}"
            .formatted(
                options.model(), options.stream(), options.api().fields(options.tokens(), messages))
            .getBytes(StandardCharsets.UTF_8);
    var head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            .formatted(options.api().route(), body.length)
            .getBytes(StandardCharsets.US_ASCII);
    var request = new byte[head.length + body.length];
    System.arraycopy(head, 0, request, 0, head.length);
    System.arraycopy(body, 0, request, head.length, body.length);
    return request;
  }
}
