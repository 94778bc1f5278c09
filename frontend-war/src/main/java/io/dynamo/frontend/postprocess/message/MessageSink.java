package io.dynamo.frontend.postprocess.message;

import org.jspecify.annotations.Nullable;

/**
 * Receives the parts that a parser finds, in the order of the text. Calls do not nest: between
 * {@link #callStarted} and {@link #callEnded} comes nothing but {@link #callArguments}. For one
 * thread.
 */
public interface MessageSink {
  /** Adds text for the user; never empty. */
  void content(String text);

  /** Adds text of the model's thoughts; never empty. */
  void reasoning(String text);

  /**
   * Starts a tool call.
   *
   * @param id the model's own id, null when it gives none
   */
  void callStarted(String name, @Nullable String id);

  /** Adds a part of the call's arguments; all parts together are one JSON object. */
  void callArguments(String json);

  /** Ends the call: its arguments are complete. */
  void callEnded();
}
