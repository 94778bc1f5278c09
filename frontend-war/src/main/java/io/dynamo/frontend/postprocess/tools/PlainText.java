package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;

/** Passes on all text as content. */
final class PlainText implements MessageParser {
  @Override
  public void accept(String text, MessageSink sink) {
    if (!text.isEmpty()) {
      sink.content(text);
    }
  }

  @Override
  public boolean isInCall() {
    return false;
  }

  @Override
  public void finish(MessageSink sink) {}
}
