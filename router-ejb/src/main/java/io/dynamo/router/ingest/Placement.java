package io.dynamo.router.ingest;

import io.dynamo.router.load.Booking;

/** A request that this router has placed, until it is closed. Safe for concurrent use. */
public interface Placement extends AutoCloseable {
  /** Records that the first token is out: the prompt no longer counts as load. Idempotent. */
  void prefillDone();

  /** Records that {@code tokens} more tokens are out. */
  void generated(int tokens);

  /** Releases the request's load. Idempotent. */
  @Override
  void close();

  /** Returns a placement that is not published to other routers. */
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
