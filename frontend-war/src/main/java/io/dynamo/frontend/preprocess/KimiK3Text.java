package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.preprocess.jinja.TimeLimit;

/**
 * The text of a prompt for Kimi K3 while it is written, in the parts that the model's published
 * encoder encodes one by one, bounded in length and time. For one thread.
 */
final class KimiK3Text {
  private static final String OPEN = "<|open|>";
  private static final String CLOSE = "<|close|>";
  private static final String END = "<|sep|>";
  private static final String END_OF_MESSAGE = "<|end_of_msg|>";

  private static final String AMPERSAND = "&amp;";
  private static final String QUOTE = "&quot;";

  private final PromptText.Builder out = new PromptText.Builder();
  private final TimeLimit time = new TimeLimit(PromptFormat.MAX_TIME);

  /**
   * Opens an element.
   *
   * @param attributes name, value, name, value and so on
   * @throws io.dynamo.frontend.preprocess.jinja.JinjaException when the time is up, or the thread
   *     is interrupted
   */
  void open(String element, String... attributes) {
    time.check();
    control(OPEN);
    add(element);
    for (int i = 0; i < attributes.length; i += 2) {
      add(" " + attributes[i]);
      add("=\"");
      escaped(attributes[i + 1]);
      add("\"");
    }
    control(END);
  }

  void close(String element) {
    control(CLOSE);
    add(element);
    control(END);
  }

  void endMessage() {
    close("message");
    control(END_OF_MESSAGE);
  }

  /** Adds ordinary text as a part of its own: a control token in it does not count as one. */
  void add(String text) {
    reserve(text.length());
    out.addText(text);
  }

  /** Marks the end of a message's content. */
  void endContent() {
    out.endContent();
  }

  private void control(String token) {
    reserve(token.length());
    out.addControl(token);
  }

  private void escaped(String value) {
    long length = value.length();
    for (int i = 0; i < value.length(); i++) {
      length +=
          switch (value.charAt(i)) {
            case '&' -> AMPERSAND.length() - 1;
            case '"' -> QUOTE.length() - 1;
            default -> 0;
          };
    }
    reserve(length);
    out.addText(value.replace("&", AMPERSAND).replace("\"", QUOTE));
  }

  private void reserve(long chars) {
    if (chars > PromptFormat.MAX_CHARS - out.length()) {
      throw new InvalidRequestException(
          "the prompt has more than %d characters; send fewer or shorter messages, names and tools"
              .formatted(PromptFormat.MAX_CHARS));
    }
  }

  PromptText build() {
    return out.build();
  }
}
