package io.dynamo.model;

import io.dynamo.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The token ids that an engine's server makes of a sample with its own chat template and tokenizer.
 * A worker puts it into its card, so that each frontend can compare it with its own rendering.
 *
 * @param messages a conversation, values as in JSON; empty for a plain text
 * @param text the plain text; empty for a conversation
 * @param tokenIds the ids of the text, or of the prompt that asks for an answer to the conversation
 */
public record RenderedSample(
    List<Map<String, Object>> messages, String text, List<Integer> tokenIds) {
  /** The most token ids of a sample. */
  public static final int MAX_TOKENS = 1024;

  /** A text that tokenizers cut in different ways: words, digits, spaces, scripts and symbols. */
  public static final String TEXT =
      "Don't count 1, 12, 1234567 and 3.14!\n\n  Naïve café: 東京, Привет, 🙂\ttab; x_1 += f(\"y\")";

  /** A conversation with that text. */
  public static final List<Map<String, Object>> MESSAGES =
      List.of(Map.of("role", "user", "content", TEXT));

  private static final String RUNTIME_DATA = "runtime_data"; // of a card's runtime_config
  private static final String KEY = "rendered_sample";
  private static final int MAX_MESSAGES = 8;
  private static final int MAX_CHARS = 4096;

  public RenderedSample {
    messages = messages.stream().map(Map::copyOf).toList();
    tokenIds = List.copyOf(tokenIds);
    if (messages.isEmpty() == text.isEmpty()) {
      throw new IllegalArgumentException("a sample is either a conversation or a text");
    }
    if (tokenIds.size() > MAX_TOKENS) {
      throw new IllegalArgumentException(
          "a sample of %d tokens exceeds %d".formatted(tokenIds.size(), MAX_TOKENS));
    }
  }

  /**
   * Returns the ids of {@link #MESSAGES}.
   *
   * @throws IllegalArgumentException when {@code tokenIds} are no list of at most {@link
   *     #MAX_TOKENS} ids
   */
  public static RenderedSample ofConversation(List<?> tokenIds) {
    return new RenderedSample(MESSAGES, "", ids(tokenIds));
  }

  /** Returns the ids of {@link #TEXT}; throws as {@link #ofConversation} does. */
  public static RenderedSample ofText(List<?> tokenIds) {
    return new RenderedSample(List.of(), TEXT, ids(tokenIds));
  }

  private static List<Integer> ids(List<?> values) {
    var ids = new ArrayList<Integer>();
    for (var value : values) {
      if (!(value instanceof Integer id) || id < 0) {
        throw new IllegalArgumentException("token id %s is no number from 0".formatted(value));
      }
      ids.add(id);
    }
    return ids;
  }

  /** Returns the member of a card's {@code runtime_data} that holds the sample. */
  public Map<String, @Nullable Object> runtimeData() {
    var sample =
        messages.isEmpty()
            ? JsonObject.ordered("text", text, "token_ids", tokenIds)
            : JsonObject.ordered("messages", messages, "token_ids", tokenIds);
    return JsonObject.ordered(KEY, sample);
  }

  /**
   * Returns the sample of a card; null when it has none.
   *
   * @throws IllegalArgumentException when the card's sample is malformed or too large
   */
  public static @Nullable RenderedSample of(ModelCard card) {
    if (!(card.runtimeConfig().get(RUNTIME_DATA) instanceof Map<?, ?> data)
        || data.get(KEY) == null) {
      return null;
    }
    var sample = JsonObject.of(data).object(KEY);
    var messages = sample.optionalObjects("messages");
    var text = sample.optionalText("text");
    if (messages.size() > MAX_MESSAGES || (text != null && text.length() > MAX_CHARS)) {
      throw new IllegalArgumentException("member \"%s\" is too large".formatted(KEY));
    }
    return new RenderedSample(
        messages.stream().map(RenderedSample::message).toList(),
        text == null ? "" : text,
        ids(sample.list("token_ids")));
  }

  private static Map<String, Object> message(JsonObject message) {
    var content = message.text("content");
    if (content.length() > MAX_CHARS) {
      throw new IllegalArgumentException("member \"content\" is too large");
    }
    return Map.of("role", message.text("role"), "content", content);
  }
}
