package io.dynamo.frontend.openai;

import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.PromptText;
import io.dynamo.frontend.watch.Stage;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.model.vocabulary.TokenTable;
import io.dynamo.trace.TraceContext;
import org.jspecify.annotations.Nullable;

/**
 * A model's template and tokenizer as one request uses them: each use is a measured stage of the
 * request.
 *
 * @param parent of their spans; null where nothing is traced
 */
record WatchedText(ModelText model, Stages stages, String requestId, @Nullable TraceContext parent)
    implements ModelText {
  @Override
  public PromptText render(ChatPrompt prompt) {
    try (var _ = stages.begin(Stage.TEMPLATE, requestId, parent)) {
      return model.render(prompt);
    }
  }

  @Override
  public int[] encode(PromptText prompt, int maxTokens) {
    try (var stage = stages.begin(Stage.TOKENIZE, requestId, parent)) {
      var tokens = model.encode(prompt, maxTokens);
      stage.span().put("dynamo.tokens", tokens.length);
      return tokens;
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
