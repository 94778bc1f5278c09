package io.dynamo.frontend.postprocess.message;

/**
 * Parses a generated text into content, thoughts and calls while it grows. The result does not
 * depend on how the text is cut: only text that may still become part of a marker is held back. For
 * one thread; {@link #finish} comes last and once.
 */
public interface MessageParser {
  /** Parses the next piece of text and passes all that is certain by then to {@code sink}. */
  void accept(String text, MessageSink sink);

  /**
   * Whether the text so far ends within the name or the arguments of a call. Marks of thoughts are
   * part of the arguments there.
   */
  boolean isInCall();

  /** Ends the text: passes on the held back text and ends an open call. */
  void finish(MessageSink sink);
}
