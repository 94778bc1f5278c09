package io.dynamo.frontend.openai;

import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.ChatRequest;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The difference between the APIs whose requests are conversations: how they are answered. */
interface ChatDialect {
  /**
   * Creates the writer of the answer.
   *
   * @param reasoningField the name of the field for a message's thoughts
   */
  AnswerFormat answerFormat(
      String requestId, long createdSeconds, String model, String reasoningField);

  /** Creates a writer of the same answer for a record, without any other effect. */
  default AnswerFormat recordFormat(
      String requestId, long createdSeconds, String model, String reasoningField) {
    return answerFormat(requestId, createdSeconds, model, reasoningField);
  }

  /** Fills in defaults that depend on the model. */
  default ChatRequest forModel(ChatRequest request, ModelCard card) {
    return request;
  }

  /**
   * The answer to a request about the prompt alone, as UTF-8 JSON; null when a text is generated.
   */
  default byte @Nullable [] promptAnswer(ModelText model, List<PreparedPrompt> prompts) {
    return null;
  }
}
