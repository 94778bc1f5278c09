package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.ChatRequest;
import io.dynamo.frontend.openai.wire.MessagesAnswer;
import io.dynamo.frontend.openai.wire.MessagesReader;
import io.dynamo.frontend.openai.wire.PromptCount;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Anthropic's Messages: conversations like those of chat, answered with blocks. */
final class MessagesApi implements Api, ChatDialect {
  private final boolean counts;

  /**
   * @param counts whether only the tokens of prompts are counted
   */
  MessagesApi(boolean counts) {
    this.counts = counts;
  }

  @Override
  public boolean isRecorded() {
    return !counts;
  }

  @Override
  public String endpoint() {
    return counts ? "anthropic_count_tokens" : "anthropic_messages";
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of("Chat");
  }

  @Override
  public String promptField() {
    return "messages";
  }

  @Override
  public ErrorFormat errors() {
    return ErrorFormat.ANTHROPIC;
  }

  @Override
  public boolean asksForPromptOnly() {
    return counts;
  }

  /** {@inheritDoc} Unknown fields are ignored in any case, as Dynamo does. */
  @Override
  public boolean knows(String field) {
    return true;
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new ParsedChat(MessagesReader.read(body, !counts), this);
  }

  @Override
  public AnswerFormat answerFormat(
      String requestId, long createdSeconds, String model, String reasoningField) {
    return new MessagesAnswer(requestId, model);
  }

  @Override
  public ChatRequest forModel(ChatRequest request, ModelCard card) {
    return card.reasoningParser() == null ? request : MessagesReader.withThinking(request);
  }

  @Override
  public byte @Nullable [] promptAnswer(ModelText model, List<PreparedPrompt> prompts) {
    return counts ? PromptCount.messages(prompts.getFirst().tokens().length) : null;
  }
}
