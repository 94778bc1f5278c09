package io.dynamo.trace;

import org.jspecify.annotations.Nullable;

/** Creates spans. Safe for concurrent use; never blocks. */
public interface Tracing extends AutoCloseable {
  /** Creates no spans, at no cost. */
  Tracing OFF =
      new Tracing() {
        @Override
        public boolean isOn() {
          return false;
        }

        @Override
        public Span start(String name, Kind kind, @Nullable TraceContext parent, Start start) {
          return Span.NONE;
        }

        @Override
        public void close() {}
      };

  /** The side of a call that a span is on. */
  enum Kind {
    SERVER,
    CLIENT,
    INTERNAL
  }

  /**
   * The start of a span.
   *
   * @param nanosAgo how long ago it started, in nanoseconds
   * @param after an earlier span that this one continues; null for none
   */
  record Start(long nanosAgo, @Nullable TraceContext after) {
    public static final Start NOW = new Start(0, null);

    public static Start ago(long nanos) {
      return new Start(Math.max(0, nanos), null);
    }

    public static Start after(@Nullable TraceContext earlier) {
      return earlier == null ? NOW : new Start(0, earlier);
    }
  }

  /** Whether spans are created at all. */
  boolean isOn();

  /**
   * Starts a span, to be ended by the caller.
   *
   * @param parent null starts a trace
   */
  Span start(String name, Kind kind, @Nullable TraceContext parent, Start start);

  /** Starts a span of this process now. */
  default Span start(String name, @Nullable TraceContext parent) {
    return start(name, Kind.INTERNAL, parent, Start.NOW);
  }

  /** Exports ended spans, for a few seconds at most, and stops creating others. Idempotent. */
  @Override
  void close();
}
