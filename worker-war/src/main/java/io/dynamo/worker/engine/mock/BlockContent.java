package io.dynamo.worker.engine.mock;

import io.dynamo.token.SequenceHash;
import java.nio.ByteBuffer;

/**
 * Generates the bytes that stand in for a block's keys and values, from its tokens and its prefix.
 */
final class BlockContent {
  private BlockContent() {}

  /**
   * Overwrites all of {@code into}, whose capacity is a multiple of 8, and prepares it for reading.
   */
  static void fill(ByteBuffer into, SequenceHash prefix, int[] tokens, int from, int count) {
    long state = prefix.value();
    for (int i = from; i < from + count; i++) {
      state = OracleTokens.after(state, tokens[i]);
    }
    into.clear();
    for (int at = 0; at < into.capacity(); at += Long.BYTES) {
      into.putLong(at, OracleTokens.mix(state + at));
    }
  }
}
