package io.dynamo.trace;

import org.jspecify.annotations.Nullable;

/** Makes spans. Safe for concurrent use; never blocks. */
public interface Tracing extends AutoCloseable {
  /** Makes none, at no cost. */
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

  /** Which side of a call a span is. */
  enum Kind {
    SERVER,
    CLIENT,
    INTERNAL
  }

  /**
   * How a span begins.
   *
   * @param nanosAgo how long ago it began
   * @param after an earlier span that this one goes on from; null for none
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

  /** Whether there are spans at all. */
  boolean isOn();

  /**
   * Begins a span, to be ended by the caller.
   *
   * @param parent null begins a trace
   */
  Span start(String name, Kind kind, @Nullable TraceContext parent, Start start);

  /** Begins a span of this process now. */
  default Span start(String name, @Nullable TraceContext parent) {
    return start(name, Kind.INTERNAL, parent, Start.NOW);
  }

  /** Exports what has ended, for a few seconds at most, and makes no more. Idempotent. */
  @Override
  void close();
}
