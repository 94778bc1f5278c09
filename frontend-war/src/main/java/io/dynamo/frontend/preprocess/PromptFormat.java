package io.dynamo.frontend.preprocess;

import java.time.Duration;

/** Writes the text of prompts in a model's form. Safe for concurrent use. */
interface PromptFormat {
  /** The most characters (UTF-16) of a prompt's text. */
  int MAX_CHARS = 16 << 20;

  /** The longest that a prompt may take to write. */
  Duration MAX_TIME = Duration.ofSeconds(5);

  /**
   * The prompt's text.
   *
   * @throws io.dynamo.error.InvalidRequestException when the form has no place for what it holds,
   *     or the text exceeds these bounds
   */
  PromptText render(ChatPrompt prompt);
}
