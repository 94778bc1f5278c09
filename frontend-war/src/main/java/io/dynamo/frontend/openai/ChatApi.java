package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.openai.wire.ChatAnswer;
import io.dynamo.frontend.openai.wire.ChatRequestReader;
import io.dynamo.frontend.openai.wire.RelayedAnswer;
import io.dynamo.model.ModelCard;
import java.util.Set;

/** Chat completions: one prompt, made of messages by the model's template. */
final class ChatApi implements Api {
  @Override
  public boolean isRecorded() {
    return true;
  }

  @Override
  public String endpoint() {
    return "chat_completions";
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
  public boolean knows(String field) {
    return ChatRequestReader.knows(field);
  }

  @Override
  public ParsedRequest relayed(JsonNode body, ParsedRequest read, ModelCard card) {
    return RelayedText.of(RelayedAnswer.Form.CHAT, read, body);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new ParsedChat(ChatRequestReader.read(body), ChatAnswer::new);
  }
}
