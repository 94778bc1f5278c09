package io.dynamo.frontend.openai.wire;

/** Keeps no answer: one that another recorder has may be written again, with the same id. */
record UnstoredAnswer(String id, boolean storesResponse) implements AnswerRecorder {
  @Override
  public void record(byte[] answer, byte[] output) {}
}
