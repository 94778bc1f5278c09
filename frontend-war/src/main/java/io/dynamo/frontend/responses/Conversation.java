package io.dynamo.frontend.responses;

import java.util.regex.Pattern;

/**
 * A conversation of OpenAI's Conversations API, without its items.
 *
 * @param createdMillis UNIX time
 * @param metadata of the client: a JSON object
 */
public record Conversation(String id, long createdMillis, String metadata) {
  private static final String PREFIX = "conv_";
  private static final Pattern FORM = Pattern.compile(PREFIX + "[0-9a-f]{32}");

  /** Returns a new id with 128 random bits, which protect the conversation. */
  public static String newId() {
    return PREFIX + ResponseIds.random();
  }

  /** Whether {@code id} has the form of the ids made here; no other is ever looked for. */
  static boolean isPossible(String id) {
    return FORM.matcher(id).matches();
  }

  /** Shows no text of the client. */
  @Override
  public String toString() {
    return "Conversation[" + createdMillis + "]";
  }
}
