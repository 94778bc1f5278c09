package io.dynamo.worker.engine;

/** Runs what has to be done at certain times: the engine's only clock. */
public interface Pacer {
  /** Work that knows when it is due. Called on one thread at a time. */
  interface Paced {
    /** The answer of {@link #tick} when nothing is due. */
    long IDLE = Long.MAX_VALUE;

    /**
     * Does what is due.
     *
     * @param now in the terms of {@link System#nanoTime()}
     * @return nanoseconds until the next call, {@link #IDLE} for none before the next wake
     */
    long tick(long now);

    /** Ends the work; the last call. */
    void end();
  }

  /** A piece of work under way. Safe for concurrent use. */
  interface Driven extends AutoCloseable {
    /** Asks for a tick soon. */
    void wake();

    /** Ends the work on its thread and waits for that, within bounds. Idempotent. */
    @Override
    void close();
  }

  Driven drive(String name, Paced work);
}
