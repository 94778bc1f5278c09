package io.dynamo.model.vocabulary;

/** A vocabulary: id to bytes. Immutable. */
public interface TokenTable {
  /** Returns the number of ids: the highest plus one. */
  int size();

  /**
   * The raw bytes of a token, which need not be whole characters; empty for an unknown id. Owned by
   * the table, not to be changed.
   */
  byte[] bytes(int id);

  /**
   * The bytes of a token that begins a text: SentencePiece drops a space there, WordPiece puts one
   * everywhere else. Owned by the table, not to be changed.
   */
  default byte[] firstBytes(int id) {
    return bytes(id);
  }

  /** Whether the token is special, that is left out of text by default. */
  boolean isSpecial(int id);
}
