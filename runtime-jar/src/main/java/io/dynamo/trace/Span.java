package io.dynamo.trace;

import org.jspecify.annotations.Nullable;

/** A part of a request's time. Safe for concurrent use; what comes after the end is dropped. */
public interface Span {
  /** Of a server that traces nothing. */
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

  /** The context that other spans name as their parent; null where nothing is traced. */
  @Nullable TraceContext context();

  /** Adds an attribute. */
  Span put(String key, String value);

  /** Adds an attribute. */
  Span put(String key, long value);

  /** Something happened now. */
  void event(String name);

  /** The span stands for a failure; {@code what} is a class of failures, no client's text. */
  void fail(String what);

  /** Ends it now. Idempotent. */
  void end();
}
