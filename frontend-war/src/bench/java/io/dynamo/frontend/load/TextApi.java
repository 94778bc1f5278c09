package io.dynamo.frontend.load;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** An API that streams text: its route, its request, and the bytes before each token. */
enum TextApi {
  CHAT(
      "/v1/chat/completions",
      "\"content\":\"",
      "\"ignore_eos\":true,\"max_tokens\":%d,\"messages\":[%s]"),
  RESPONSES(
      "/v1/responses", "\"delta\":\"", "\"store\":false,\"max_output_tokens\":%d,\"input\":[%s]"),
  MESSAGES("/v1/messages", "\"text_delta\",\"text\":\"", "\"max_tokens\":%d,\"messages\":[%s]");

  private final String route;
  private final byte[] beforeText;
  private final String request;

  TextApi(String route, String beforeText, String request) {
    this.route = route;
    this.beforeText = beforeText.getBytes(StandardCharsets.US_ASCII);
    this.request = request;
  }

  /**
   * @throws IllegalArgumentException when there is none of that name
   */
  static TextApi of(String name) {
    return Arrays.stream(values())
        .filter(api -> api.toString().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "\"%s\" is none of %s".formatted(name, Arrays.toString(values()))));
  }

  String route() {
    return route;
  }

  /** The bytes of an event before a token's text; owned by the constant. */
  byte[] beforeText() {
    return beforeText;
  }

  /** The fields of a request for {@code tokens}, but for model and streaming. */
  String fields(int tokens, CharSequence messages) {
    return request.formatted(tokens, messages);
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
