package io.dynamo.token;

/**
 * The token ids that stand for an image in the block hashes of a prompt. No vocabulary has such
 * ids, so that a block with an image equals another only when their images are equal. Dynamo and
 * SGLang compute the same ids. Stateless.
 */
public final class MediaPads {
  private static final int FIRST = 1_000_000; // beyond every vocabulary
  private static final long MASK = (1L << 30) - 1;

  private MediaPads() {}

  /** Returns the id that fills the place of the image with hash {@code mediaHash}. */
  public static int of(long mediaHash) {
    return FIRST + (int) (mediaHash & MASK);
  }
}
