package io.dynamo.frontend.preprocess;

import io.dynamo.model.vocabulary.TokenTable;

/** A model's text of which every method fails; a test overrides those that it uses. */
public class NoText implements ModelText {
  @Override
  public PromptText render(ChatPrompt prompt) {
    throw new AssertionError("not asked here");
  }

  @Override
  public int[] encode(PromptText prompt, int maxTokens) {
    throw new AssertionError("not asked here");
  }

  @Override
  public int maxTokenChars() {
    return 1;
  }

  @Override
  public TokenTable tokens() {
    throw new AssertionError("not asked here");
  }

  @Override
  public int[] eosTokenIds() {
    throw new AssertionError("not asked here");
  }

  @Override
  public void close() {}
}
