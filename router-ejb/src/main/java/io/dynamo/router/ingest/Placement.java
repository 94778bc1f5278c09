package io.dynamo.router.ingest;

import io.dynamo.router.load.Booking;

/** A request that this router has placed, until it is closed. Safe for concurrent use. */
public interface Placement extends AutoCloseable {
  /** The first token is out: the prompt is no work any more. Idempotent. */
  void prefillDone();

  /** {@code tokens} more are out. */
  void generated(int tokens);

  /** Gives everything back. Idempotent. */
  @Override
  void close();

  /** One that no other router hears of. */
  static Placement of(Booking booking) {
    return new Placement() {
      @Override
      public void prefillDone() {
        booking.prefillDone();
      }

      @Override
      public void generated(int tokens) {
        booking.generated(tokens);
      }

      @Override
      public void close() {
        booking.close();
      }
    };
  }
}
