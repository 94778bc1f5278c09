package io.dynamo.frontend.openai.wire;

/** Receives one answer that is to be kept, once it is whole. */
public interface AnswerRecorder {
  /** The id under which the answer is stored; the client gets it as the answer's id. */
  String id();

  /** Whether the answer can be found under its id later. */
  boolean storesResponse();

  /**
   * Keeps the answer; never waits. Not called for an answer that fails or is cancelled.
   *
   * @param answer a response object, JSON in UTF-8
   * @param output the items of its output, separated by commas
   */
  void record(byte[] answer, byte[] output);
}
