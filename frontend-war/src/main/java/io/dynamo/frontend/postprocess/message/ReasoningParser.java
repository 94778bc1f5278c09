package io.dynamo.frontend.postprocess.message;

/** Separates thoughts from the rest of a message. For one thread. */
public interface ReasoningParser extends MessageParser {
  /** Whether the text is within a thought where it ends now. */
  boolean isThinking();
}
