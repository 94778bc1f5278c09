package io.dynamo.frontend.openai;

import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.PromptText;
import io.dynamo.frontend.preprocess.bpe.TooManyTokensException;
import io.dynamo.model.vocabulary.TokenTable;

/**
 * A model's tokenizer that refuses prompts which cannot fit the model: by their length when they
 * have more characters than the context's tokens can spell, else as soon as they have too many
 * tokens.
 *
 * @param field of the prompt in the request
 */
record BoundedText(ModelText model, TokenBudget budget, String field) implements ModelText {
  @Override
  public PromptText render(ChatPrompt prompt) {
    return model.render(prompt);
  }

  /**
   * @throws io.dynamo.frontend.ApiException with 400 when the text is too long for the model
   */
  @Override
  public int[] encode(PromptText prompt, int maxTokens) {
    int counted = Math.min(maxTokens, budget.countedTokens());
    long least = prompt.text().length() / model.maxTokenChars();
    if (least > counted) {
      throw budget.tooLong(least, field);
    }
    try {
      return model.encode(prompt, counted);
    } catch (TooManyTokensException e) {
      throw budget.tooLong(counted + 1L, field);
    }
  }

  @Override
  public int maxTokenChars() {
    return model.maxTokenChars();
  }

  @Override
  public TokenTable tokens() {
    return model.tokens();
  }

  @Override
  public int[] eosTokenIds() {
    return model.eosTokenIds();
  }

  @Override
  public void close() {
    model.close();
  }
}
