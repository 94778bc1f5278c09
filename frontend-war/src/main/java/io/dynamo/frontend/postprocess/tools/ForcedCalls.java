package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import org.jspecify.annotations.Nullable;

/**
 * For a request that must be answered with a call: takes JSON as guided decoding gives it, and any
 * other text as the model's own grammar. The first character that is no space decides. For one
 * thread.
 */
final class ForcedCalls implements MessageParser {
  private final MessageParser guided;
  private final MessageParser own;
  private final String firsts;
  private final StringBuilder space = new StringBuilder();
  private int first; // of its characters that may be no space
  private @Nullable MessageParser chosen;

  /**
   * @param firsts characters that guided decoding may begin with
   */
  ForcedCalls(MessageParser guided, String firsts, MessageParser own) {
    this.guided = guided;
    this.firsts = firsts;
    this.own = own;
  }

  @Override
  public void accept(String text, MessageSink sink) {
    if (chosen != null) {
      chosen.accept(text, sink);
      return;
    }
    space.append(text);
    while (first < space.length() && Character.isWhitespace(space.charAt(first))) {
      first++;
    }
    if (first < space.length()) {
      chosen = firsts.indexOf(space.charAt(first)) >= 0 ? guided : own;
      chosen.accept(space.toString(), sink);
    }
  }

  @Override
  public boolean isInCall() {
    return chosen != null && chosen.isInCall();
  }

  @Override
  public void finish(MessageSink sink) {
    if (chosen == null) {
      chosen = own;
      own.accept(space.toString(), sink);
    }
    chosen.finish(sink);
  }
}
