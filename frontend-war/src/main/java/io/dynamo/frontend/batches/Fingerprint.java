package io.dynamo.frontend.batches;

import java.nio.ByteBuffer;

/** The first 128 bits of a SHA-256 hash. */
record Fingerprint(long high, long low) {
  /** Bytes of memory that one takes in a set. */
  static final int BYTES = 96;

  static Fingerprint of(byte[] text) {
    var hash = ByteBuffer.wrap(Owners.hash(text));
    return new Fingerprint(hash.getLong(0), hash.getLong(Long.BYTES));
  }
}
