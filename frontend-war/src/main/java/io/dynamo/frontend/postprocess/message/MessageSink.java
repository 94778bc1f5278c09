package io.dynamo.frontend.postprocess.message;

import org.jspecify.annotations.Nullable;

/**
 * What a parser finds, in the order of the text. Calls do not nest: between {@link #callStarted}
 * and {@link #callEnded} comes nothing but {@link #callArguments}. For one thread.
 */
public interface MessageSink {
  /** Text that the user is to read; never empty. */
  void content(String text);

  /** Text that the model thought; never empty. */
  void reasoning(String text);

  /**
   * A tool call begins.
   *
   * @param id the model's own id, null when it gives none
   */
  void callStarted(String name, @Nullable String id);

  /** The next part of the call's arguments; the parts of a call together are one JSON object. */
  void callArguments(String json);

  /** The call's arguments are complete. */
  void callEnded();
}
