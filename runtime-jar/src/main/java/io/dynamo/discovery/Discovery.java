package io.dynamo.discovery;

import java.util.function.Consumer;

/**
 * Stores the records of live processes: their instances, addresses and models. Records live under
 * the lease of the process that wrote them and vanish with it. Safe for concurrent use.
 */
public interface Discovery extends AutoCloseable {
  /** A registration or watch that can be ended. Idempotent. */
  interface Handle extends AutoCloseable {
    @Override
    void close();
  }

  /** Returns the identity under which this process registers. */
  InstanceId instanceId();

  /**
   * Writes {@code record}; it is visible to watchers before this returns or shortly after. Writing
   * an equal record again succeeds.
   *
   * @return removes the record when closed
   * @throws IllegalStateException when another value is stored under its key
   */
  Handle register(DiscoveryRecord record);

  /**
   * Replaces {@code before} with {@code now}, so that watchers see a change and never a loss. The
   * handle of {@code before} has no further effect.
   *
   * @return removes the record when closed
   * @throws IllegalArgumentException when their keys differ
   * @throws IllegalStateException when {@code before} is not registered by this process
   */
  Handle replace(DiscoveryRecord before, DiscoveryRecord now);

  /**
   * Reports every record of the kind to {@code listener}: the present ones, then each change,
   * without a gap between. Calls come one at a time, in order, on a thread of the backend; a
   * listener must not block. A record that flaps between two looks at the store may be reported
   * once or not at all: the sequence always ends in the present state.
   */
  <R extends DiscoveryRecord> Handle watch(Class<R> kind, Consumer<DiscoveryEvent<R>> listener);

  /** Removes all records of this process, ends all watches and frees the lease. Idempotent. */
  @Override
  void close();
}
