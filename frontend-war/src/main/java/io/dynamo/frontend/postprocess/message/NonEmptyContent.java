package io.dynamo.frontend.postprocess.message;

import org.jspecify.annotations.Nullable;

/**
 * Holds thoughts back until there is content or a call; in a message without either they become its
 * content. For one thread.
 */
public final class NonEmptyContent implements MessageSink {
  private final MessageSink sink;
  private final StringBuilder thoughts = new StringBuilder();
  private boolean open;

  public NonEmptyContent(MessageSink sink) {
    this.sink = sink;
  }

  /** Ends the message. */
  public void finish() {
    if (!thoughts.isEmpty()) {
      sink.content(thoughts.toString());
      thoughts.setLength(0);
    }
  }

  @Override
  public void content(String text) {
    open();
    sink.content(text);
  }

  @Override
  public void reasoning(String text) {
    if (open) {
      sink.reasoning(text);
    } else {
      thoughts.append(text);
    }
  }

  @Override
  public void callStarted(String name, @Nullable String id) {
    open();
    sink.callStarted(name, id);
  }

  @Override
  public void callArguments(String json) {
    sink.callArguments(json);
  }

  @Override
  public void callEnded() {
    sink.callEnded();
  }

  private void open() {
    open = true;
    if (!thoughts.isEmpty()) {
      sink.reasoning(thoughts.toString());
      thoughts.setLength(0);
    }
  }
}
