package io.dynamo.token;

/**
 * The hash of one block's content, independent of its position ({@code tokens_hash} on the wire).
 * Unsigned.
 */
public record BlockHash(long value) {
  @Override
  public String toString() {
    return Long.toUnsignedString(value);
  }
}
