package io.dynamo.frontend.postprocess.message;

/**
 * Takes a generated text apart while it grows. How the text was cut does not change what is said in
 * all: only text that may still become part of a marker is held back. For one thread; {@link
 * #finish} comes last and once.
 */
public interface MessageParser {
  /** Takes the next piece of text and tells {@code sink} what is decided by now. */
  void accept(String text, MessageSink sink);

  /**
   * Whether the text so far ends within the name or the arguments of a call. Marks of thoughts are
   * part of the arguments there.
   */
  boolean isInCall();

  /** The text is complete: tells what was held back and ends a call that is still open. */
  void finish(MessageSink sink);
}
