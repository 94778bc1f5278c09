package io.dynamo.frontend.load;

/** When the text of one answer came. One thread. */
final class Answer {
  private final long due;
  private final boolean refused;
  private long first;
  private long last;
  private long end;
  private int tokens;

  Answer(long due, boolean refused) {
    this.due = due;
    this.refused = refused;
  }

  /** Whether the frontend had no room for the request. */
  boolean refused() {
    return refused;
  }

  /** Notes a token; returns the nanoseconds since the one before it, 0 for the first. */
  long token() {
    long before = last;
    last = System.nanoTime();
    if (tokens++ == 0) {
      first = last;
      return 0;
    }
    return last - before;
  }

  void ended(long nanos) {
    end = nanos;
  }

  /** Deltas with text; 1 for an answer that came whole. */
  int tokens() {
    return tokens;
  }

  long firstNanos() {
    return (tokens == 0 ? end : first) - due;
  }

  long wholeNanos() {
    return end - due;
  }

  /** Nanoseconds between tokens, over the whole answer. */
  long betweenNanos() {
    return tokens < 2 ? 0 : (last - first) / (tokens - 1);
  }
}
