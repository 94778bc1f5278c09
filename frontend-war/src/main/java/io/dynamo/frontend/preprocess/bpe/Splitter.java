package io.dynamo.frontend.preprocess.bpe;

/** Cuts a text into the pieces that are encoded one by one. Immutable. */
interface Splitter {
  /**
   * The end of the piece that begins at {@code from}.
   *
   * @param text without halves of surrogate pairs
   * @param to the end of the text that is looked at; beyond {@code from}
   */
  int end(String text, int from, int to);
}
