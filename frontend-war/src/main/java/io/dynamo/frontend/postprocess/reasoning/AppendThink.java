package io.dynamo.frontend.postprocess.reasoning;

import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import io.dynamo.frontend.postprocess.message.ReasoningParser;

/**
 * Keeps thoughts in the content, behind the opening mark that the prompt ended with. For one
 * thread.
 */
final class AppendThink implements ReasoningParser {
  private final MessageParser next;
  private boolean marked;

  AppendThink(MessageParser next) {
    this.next = next;
  }

  @Override
  public boolean isThinking() {
    return false;
  }

  @Override
  public void accept(String text, MessageSink sink) {
    if (!marked && !text.isEmpty()) {
      marked = true;
      next.accept("<think>", sink);
    }
    next.accept(text, sink);
  }

  @Override
  public boolean isInCall() {
    return next.isInCall();
  }

  @Override
  public void finish(MessageSink sink) {
    next.finish(sink);
  }
}
