package io.dynamo.frontend.preprocess;

/** Writes the text of prompts in a model's form. Safe for concurrent use. */
interface PromptFormat {
  /**
   * The prompt's text.
   *
   * @throws io.dynamo.error.InvalidRequestException when the form has no place for what it holds
   */
  String render(ChatPrompt prompt);
}
