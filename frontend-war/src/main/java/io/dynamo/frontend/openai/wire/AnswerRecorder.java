package io.dynamo.frontend.openai.wire;

/** Receives one answer that is to be stored, once it is whole. */
public interface AnswerRecorder {
  /** The id under which the answer is stored; the client gets it as the answer's id. */
  String id();

  /**
   * Stores the answer; never waits. Not called for an answer that fails or is cancelled.
   *
   * @param answer a response object, JSON in UTF-8
   */
  void record(byte[] answer);
}
