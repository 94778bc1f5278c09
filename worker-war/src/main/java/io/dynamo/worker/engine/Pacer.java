package io.dynamo.worker.engine;

/** Runs timed work: the engine's only clock. */
public interface Pacer {
  /** Work that knows when it is due next. Called on one thread at a time. */
  interface Paced {
    /** The result of {@link #tick} when nothing is due. */
    long IDLE = Long.MAX_VALUE;

    /**
     * Does the work that is due.
     *
     * @param now in terms of {@link System#nanoTime()}
     * @return nanoseconds until the next call, {@link #IDLE} for none before the next wake
     */
    long tick(long now);

    /** Ends the work; this is the last call. */
    void end();
  }

  /** A handle on running work. Safe for concurrent use. */
  interface Driven extends AutoCloseable {
    /** Requests a tick soon. */
    void wake();

    /** Ends the work on its thread and waits for that, within a bound. Idempotent. */
    @Override
    void close();
  }

  Driven drive(String name, Paced work);
}
