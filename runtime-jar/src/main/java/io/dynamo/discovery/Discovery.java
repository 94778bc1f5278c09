package io.dynamo.discovery;

import java.util.function.Consumer;

/**
 * The records of instances, with their addresses and the models that they serve. Records live under
 * the lease of the process that wrote them and vanish with it. Safe for concurrent use.
 */
public interface Discovery extends AutoCloseable {
  /** Something that can be given up. Idempotent. */
  interface Handle extends AutoCloseable {
    @Override
    void close();
  }

  /** The identity under which this process registers. */
  InstanceId instanceId();

  /**
   * Writes {@code record}; it is visible to watchers before this returns or shortly after. Writing
   * an equal record again succeeds.
   *
   * @return takes the record away again
   * @throws IllegalStateException when another value stands under its key
   */
  Handle register(DiscoveryRecord record);

  /**
   * Puts {@code now} where {@code before} stands, so that watchers see it change and never gone.
   * The handle of {@code before} is of no more use.
   *
   * @return takes the record away again
   * @throws IllegalArgumentException when their keys differ
   * @throws IllegalStateException when {@code before} is not registered by this process
   */
  Handle replace(DiscoveryRecord before, DiscoveryRecord now);

  /**
   * Tells {@code listener} every record of the kind: those there now, then each change, with no gap
   * between. Calls come one at a time, in order, on a thread of the backend; a listener must not
   * block. A record that flaps between two looks may be reported once or not at all: the sequence
   * always ends in what is there.
   */
  <R extends DiscoveryRecord> Handle watch(Class<R> kind, Consumer<DiscoveryEvent<R>> listener);

  /** Takes away all records of this process, ends all watches and frees the lease. Idempotent. */
  @Override
  void close();
}
