package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageSink;
import org.jspecify.annotations.Nullable;

/**
 * Passes on the calls that the request allows: only the first, or only those to one function. Space
 * before a dropped call is dropped with it. For one thread.
 */
public final class CallPolicy implements MessageSink {
  private final MessageSink sink;
  private final boolean single;
  private final @Nullable String only;
  private final StringBuilder space =
      new StringBuilder(); // behind a call, before a part that is not known yet
  private boolean any;
  private boolean dropped;

  /**
   * @param single whether only the first call is let through
   * @param only the one function that may be called, null for all
   */
  public CallPolicy(MessageSink sink, boolean single, @Nullable String only) {
    this.sink = sink;
    this.single = single;
    this.only = only;
  }

  @Override
  public void content(String text) {
    if (single && any && text.isBlank()) {
      space.append(text);
    } else {
      flush();
      sink.content(text);
    }
  }

  @Override
  public void reasoning(String text) {
    flush();
    sink.reasoning(text);
  }

  @Override
  public void callStarted(String name, @Nullable String id) {
    dropped = (single && any) || (only != null && !only.equals(name));
    if (dropped) {
      space.setLength(0);
    } else {
      any = true;
      sink.callStarted(name, id);
    }
  }

  @Override
  public void callArguments(String json) {
    if (!dropped) {
      sink.callArguments(json);
    }
  }

  @Override
  public void callEnded() {
    if (!dropped) {
      sink.callEnded();
    }
  }

  /** Ends the message: passes on the last space. */
  public void finish() {
    flush();
  }

  private void flush() {
    if (!space.isEmpty()) {
      sink.content(space.toString());
      space.setLength(0);
    }
  }
}
