package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.ChatMessage;
import io.dynamo.frontend.postprocess.message.Piece;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Gathers the message of an answer with one choice while it is sent. Gives up, without harm to the
 * answer, when there is no memory for it. For one thread.
 */
final class AnsweredMessage {
  private final GatheredAnswer memory;
  private final StringBuilder content = new StringBuilder();
  private final StringBuilder reasoning = new StringBuilder();
  private final List<Map<String, Object>> calls = new ArrayList<>();
  private final StringBuilder arguments = new StringBuilder();
  private Piece.@Nullable CallStarted call;
  private boolean whole;
  private boolean abandoned;

  AnsweredMessage(GatheredAnswer memory) {
    this.memory = memory;
  }

  void add(ChoiceDelta delta) {
    if (abandoned) {
      return;
    }
    try {
      memory.charge(delta);
    } catch (ApiException e) {
      abandoned = true;
      content.setLength(0);
      reasoning.setLength(0);
      arguments.setLength(0);
      calls.clear();
      return;
    }
    var pieces = delta.pieces();
    if (pieces == null) {
      content.append(delta.text());
    } else {
      pieces.forEach(this::add);
    }
    whole |= delta.finish() != null;
  }

  private void add(Piece piece) {
    switch (piece) {
      case Piece.Content(var text) -> content.append(text);
      case Piece.Reasoning(var text) -> reasoning.append(text);
      case Piece.CallStarted it -> call = it;
      case Piece.CallArguments(var _, var json) -> arguments.append(json);
      case Piece.CallEnded _ -> {
        if (call != null) {
          calls.add(ChatMessage.toolCall(call.id(), call.name(), arguments.toString()));
        }
        call = null;
        arguments.setLength(0);
      }
    }
  }

  /** The message; null when it did not end or was given up. */
  @Nullable ChatMessage message() {
    return whole && !abandoned
        ? ChatMessage.ofModel(content.toString(), reasoning.toString(), calls)
        : null;
  }

  /** The number of characters so far, without those of calls. */
  int length() {
    return content.length() + reasoning.length();
  }
}
