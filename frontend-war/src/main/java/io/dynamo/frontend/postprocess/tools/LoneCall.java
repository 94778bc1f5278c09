package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;

/** Reads a text that is one call as a JSON object; any other text is content. For one thread. */
final class LoneCall implements MessageParser {
  private enum State {
    READING,
    READ,
    TEXT
  }

  private final CallObject object;
  private final StringBuilder undecided = new StringBuilder(); // text that may yet be no call
  private State state = State.READING;

  /**
   * @param argumentsKey a further name of the arguments, beside {@code arguments} and {@code
   *     parameters}
   */
  LoneCall(String argumentsKey) {
    this.object = new CallObject(true, false, argumentsKey);
  }

  @Override
  public void accept(String text, MessageSink sink) {
    int at = 0;
    while (at < text.length() && state == State.READING) {
      char c = text.charAt(at++);
      if (!object.started()) {
        undecided.append(c);
      }
      switch (object.accept(c)) {
        case MORE -> {}
        case DONE -> end(sink);
        case BAD -> {
          object.passOn(sink);
          if (object.started()) {
            end(sink);
          } else {
            giveBack(sink);
          }
        }
      }
    }
    if (state == State.READING) {
      object.passOn(sink);
    } else {
      rest(text.substring(at), sink);
    }
  }

  private void end(MessageSink sink) {
    object.end(sink);
    state = State.READ;
  }

  private void giveBack(MessageSink sink) {
    state = State.TEXT;
    if (!undecided.isEmpty()) {
      sink.content(undecided.toString());
    }
  }

  /** Drops space behind a call, which belongs to its frame. */
  private void rest(String text, MessageSink sink) {
    var shown = state == State.READ ? text.stripLeading() : text;
    if (!shown.isEmpty()) {
      state = State.TEXT;
      sink.content(shown);
    }
  }

  @Override
  public boolean isInCall() {
    return state == State.READING;
  }

  @Override
  public void finish(MessageSink sink) {
    if (state == State.READING) {
      object.passOn(sink);
      if (object.started()) {
        end(sink);
      } else {
        giveBack(sink);
      }
    }
  }
}
