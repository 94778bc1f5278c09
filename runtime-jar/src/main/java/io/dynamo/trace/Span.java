package io.dynamo.trace;

import org.jspecify.annotations.Nullable;

/** A timed part of a request. Safe for concurrent use; calls after the end are ignored. */
public interface Span {
  /** The span of a server without tracing. */
  Span NONE =
      new Span() {
        @Override
        public @Nullable TraceContext context() {
          return null;
        }

        @Override
        public Span put(String key, String value) {
          return this;
        }

        @Override
        public Span put(String key, long value) {
          return this;
        }

        @Override
        public void event(String name) {}

        @Override
        public void fail(String what) {}

        @Override
        public void end() {}
      };

  /** Returns the context that other spans name as their parent; null where nothing is traced. */
  @Nullable TraceContext context();

  /** Adds an attribute. */
  Span put(String key, String value);

  /** Adds an attribute. */
  Span put(String key, long value);

  /** Records an event at the present time. */
  void event(String name);

  /** Marks the span as failed; {@code what} is a class of failures, without any client's text. */
  void fail(String what);

  /** Ends the span now. Idempotent. */
  void end();
}
