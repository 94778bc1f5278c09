package io.dynamo.frontend.preprocess;

/** The text of a model that nobody asks; a test answers what it does ask. */
public class NoText implements ModelText {
  @Override
  public String render(ChatPrompt prompt) {
    throw new AssertionError("not asked here");
  }

  @Override
  public int[] encode(String text, int maxTokens) {
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
