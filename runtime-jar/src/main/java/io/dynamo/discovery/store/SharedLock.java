package io.dynamo.discovery.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Discovery;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock among the processes of a cluster: one writer, or any number of readers. Its keys are those
 * of Dynamo's lock, {@code v1/<name>/writer} and {@code v1/<name>/readers/<id>}, under the lease of
 * the holder: one that dies, or loses its lease, has lost the lock. Safe for concurrent use.
 *
 * <p>Both sides first write their own key, then look for those of the other side and step back when
 * there is one. So they never hold the lock together, and two that come at once may both step back.
 */
public final class SharedLock {
  private static final System.Logger LOG = System.getLogger(SharedLock.class.getName());
  private static final String WRITER = "writer";
  private static final String READERS = "readers/";

  private final String name;
  private final Bucket keys;

  /**
   * @param name may have slashes, as bucket names
   */
  public SharedLock(KeyValueStore store, String name) {
    this.name = name;
    this.keys = store.bucket(new BucketName("v1/" + name));
  }

  /**
   * Takes the lock to write, if nobody has it; does not wait for others.
   *
   * @return releases the lock when closed; empty when somebody has it
   * @throws UncheckedIOException when the store does not answer
   */
  public Optional<LockHandle> tryWrite() {
    if (!keys.entries().isEmpty()) {
      return Optional.empty();
    }
    var taken = NewKey.create(keys, WRITER, value("writing"));
    return taken.isEmpty()
        ? Optional.empty()
        : keepUnless(
            () -> keys.entries().keySet().stream().anyMatch(key -> key.startsWith(READERS)),
            WRITER,
            taken.getAsLong());
  }

  /**
   * Takes the lock to read, once nobody writes.
   *
   * @param reader names this reader among all of the lock, as buckets are named
   * @return releases the lock when closed
   * @throws IllegalStateException when a reader of this name has the lock
   * @throws TimeoutException when somebody writes all the time
   * @throws UncheckedIOException when the store does not answer
   */
  public LockHandle read(String reader, Duration patience)
      throws InterruptedException, TimeoutException {
    var deadline = Deadline.after(patience);
    var key = READERS + new BucketName(reader);
    while (true) {
      if (BucketState.await(
              keys,
              state -> !state.containsKey(WRITER),
              Duration.ofNanos(deadline.remainingNanos()))
          .isEmpty()) {
        throw new TimeoutException(
            "somebody has been writing under the lock %s for %s".formatted(name, patience));
      }
      var taken = NewKey.create(keys, key, value("reading"));
      if (taken.isEmpty()) {
        throw new IllegalStateException(
            "a reader %s has the lock %s already".formatted(reader, name));
      }
      var held = keepUnless(() -> keys.get(WRITER).isPresent(), key, taken.getAsLong());
      if (held.isPresent()) {
        return held.get();
      }
    }
  }

  /**
   * Steps back from a key that was written when the other side has the lock, or when the store does
   * not say.
   *
   * @return releases the lock when closed; empty when the other side has it
   */
  private Optional<LockHandle> keepUnless(BooleanSupplier otherSide, String key, long revision) {
    boolean taken;
    try {
      taken = otherSide.getAsBoolean();
    } catch (UncheckedIOException e) {
      release(key, revision); // nobody else would, as long as this process lives
      throw e;
    }
    if (taken) {
      keys.delete(key, revision);
      return Optional.empty();
    }
    return Optional.of(new LockKey(key, revision));
  }

  /** A lock that was taken; closing it releases it. Safe for concurrent use. */
  public interface LockHandle extends Discovery.Handle {
    /**
     * Asks the store whether the lock is still held: it is lost with the lease of this process.
     *
     * @throws UncheckedIOException when the store does not answer: nobody knows then
     */
    boolean isHeld();

    /**
     * Calls {@code lost} when the lock is lost before it is released, at once when it is lost
     * already. It is called on a thread of the backend and must not block. While the store is away
     * nobody is called: whoever may not act without the lock asks {@link #isHeld}.
     *
     * @return ends the watch when closed
     */
    Discovery.Handle whenLost(Runnable lost);
  }

  /** A lock that is held by a key of this revision. */
  private final class LockKey implements LockHandle {
    private final String key;
    private final long revision;
    private volatile boolean released;

    LockKey(String key, long revision) {
      this.key = key;
      this.revision = revision;
    }

    private boolean isMine(Bucket.@Nullable Entry entry) {
      return entry != null && entry.revision() == revision;
    }

    @Override
    public boolean isHeld() {
      return !released && isMine(keys.get(key).orElse(null));
    }

    @Override
    public Discovery.Handle whenLost(Runnable lost) {
      var called = new AtomicBoolean();
      return keys.watch(
          state -> {
            if (!released && !isMine(state.get(key)) && called.compareAndSet(false, true)) {
              lost.run();
            }
          });
    }

    @Override
    public void close() {
      released = true;
      release(key, revision);
    }
  }

  /** Returns a value that nobody else writes, so that a later holder's key has another revision. */
  private static byte[] value(String use) {
    return (use + " " + UUID.randomUUID()).getBytes(UTF_8);
  }

  private void release(String key, long revision) {
    try {
      keys.delete(key, revision);
    } catch (UncheckedIOException e) {
      LOG.log(
          Level.WARNING,
          "the lock " + name + " is not released; it is when the lease of this process ends",
          e);
    }
  }
}
