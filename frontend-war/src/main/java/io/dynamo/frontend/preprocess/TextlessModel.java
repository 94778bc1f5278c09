package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.model.vocabulary.TokenTable;

/** The text side of a model whose workers tokenise themselves: there is none here. */
public final class TextlessModel implements ModelText {
  /** The only one; it has no state. */
  public static final ModelText INSTANCE = new TextlessModel();

  private TextlessModel() {}

  private static InvalidRequestException none() {
    return new InvalidRequestException(
        "the workers of this model tokenise themselves: the frontend has no tokenizer and no chat template of it");
  }

  @Override
  public PromptText render(ChatPrompt prompt) {
    throw none();
  }

  @Override
  public int[] encode(PromptText prompt, int maxTokens) {
    throw none();
  }

  @Override
  public int maxTokenChars() {
    return Integer.MAX_VALUE;
  }

  @Override
  public TokenTable tokens() {
    throw none();
  }

  @Override
  public int[] eosTokenIds() {
    return new int[0];
  }

  @Override
  public void close() {}
}
