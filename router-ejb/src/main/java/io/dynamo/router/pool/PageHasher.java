package io.dynamo.router.pool;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Computes the hashes of the complete pages of one prompt in their order, as SGLang does: SHA-256
 * over the whole hash of the page before and the page's tokens, four bytes each, little-endian.
 * Where a model drafts, each token is followed by the next, and the last token begins no pair. One
 * thread, one prompt.
 */
final class PageHasher {
  private static final byte[] NOTHING = {};

  private final int[] tokens;
  private final int pageTokens;
  private final boolean drafting;
  private final int pages;
  private final MessageDigest sha256;
  private final ByteBuffer content;
  private byte[] before = NOTHING;
  private int at;

  PageHasher(int[] tokens, HicacheLayout layout) {
    this.tokens = tokens;
    this.pageTokens = layout.pageTokens();
    this.drafting = layout.drafting();
    this.pages = Math.max(0, tokens.length - (drafting ? 1 : 0)) / pageTokens;
    this.sha256 = sha256();
    this.content =
        ByteBuffer.allocate(pages == 0 ? 0 : pageTokens * (drafting ? 2 : 1) * Integer.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** Returns the number of complete pages of the prompt. */
  int pages() {
    return pages;
  }

  /** Returns the hash of the next page; called {@link #pages} times at most. */
  PageHash next() {
    content.clear();
    for (int end = at + pageTokens; at < end; at++) {
      content.putInt(tokens[at]);
      if (drafting) {
        content.putInt(tokens[at + 1]);
      }
    }
    sha256.update(before);
    sha256.update(content.array());
    before = sha256.digest();
    return PageHash.of(before);
  }
}
