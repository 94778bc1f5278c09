package io.dynamo.transfer.nixl;

import io.dynamo.transfer.nixl.NixlException.Reason;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The memory that one agent has registered, each range once: uses of it, and of ranges within it,
 * are counted, and the last one deregisters it. Nothing stays registered without a use, since peers
 * could reach it, and an address may be other memory by then. Safe for concurrent use.
 */
final class RegistrationCache {
  private static final System.Logger LOG = System.getLogger(RegistrationCache.class.getName());

  /** One use of registered memory. */
  final class Use {
    private final Range range;
    private boolean isOver; // guarded by the cache

    private Use(Range range) {
      this.range = range;
    }

    RegistrationCache cache() {
      return RegistrationCache.this;
    }

    /** Returns the number of the registration, when the agent has it. */
    CompletionStage<Long> registration() {
      return range.command.outcome();
    }

    /** Ends the use. Idempotent. */
    void release() {
      RegistrationCache.this.release(this);
    }

    /**
     * Ends the use, but keeps the memory in place until the connection is closed, because the
     * network may still touch it. Peers cannot begin to use it any more.
     */
    void releaseButKeep() {
      synchronized (RegistrationCache.this) {
        range.isKept = true;
      }
      release();
    }
  }

  /** A registered range. Its uses are guarded by the cache. */
  private static final class Range {
    private final Descriptor descriptor; // keeps the memory until the agent has let go
    private final NixlCommand<Long> command;
    private int uses;
    private boolean isKept;

    Range(Descriptor descriptor, NixlCommand<Long> command) {
      this.descriptor = descriptor;
      this.command = command;
    }

    long byteSize() {
      return descriptor.byteSize();
    }

    boolean covers(Descriptor part) {
      long offset = part.address() - descriptor.address();
      return descriptor.device().equals(part.device())
          && Long.compareUnsigned(offset, byteSize()) < 0
          && part.byteSize() <= byteSize() - offset;
    }
  }

  private final NixlAgent agent;
  private final NixlLimits limits;
  // all guarded by this
  private final Map<Device, TreeMap<Long, Range>> ranges = new HashMap<>();
  private final Set<Range> held = new HashSet<>(); // those registered, and those being deregistered
  private final Set<Range> kept = new HashSet<>();
  private int count;
  private long bytes;
  private long keptBytes;

  RegistrationCache(NixlAgent agent, NixlLimits limits) {
    this.agent = agent;
    this.limits = limits;
  }

  /**
   * Begins a use of the memory of a descriptor, and registers it unless it is.
   *
   * @throws NixlException when that would exceed a limit
   */
  synchronized Use acquire(Descriptor descriptor) {
    var range = find(descriptor);
    if (range == null) {
      range = add(descriptor);
    }
    range.uses++;
    return new Use(range);
  }

  private @Nullable Range find(Descriptor descriptor) {
    var ofDevice = ranges.get(descriptor.device());
    if (ofDevice == null) {
      return null;
    }
    // from the nearest that begins before, since a whole pool lies further back than a part of it
    for (var range : ofDevice.headMap(descriptor.address(), true).descendingMap().values()) {
      if (range.covers(descriptor)) {
        return range;
      }
    }
    return null;
  }

  private Range add(Descriptor descriptor) {
    if (keptBytes > limits.keptBytes()) {
      throw new NixlException(
          Reason.BUSY,
          "%d bytes of failed operations are kept, more than %d; open another connector and close"
                  .formatted(keptBytes, limits.keptBytes())
              + " this one");
    }
    if (count >= limits.registrations()) {
      throw new NixlException(
          Reason.BUSY,
          "%d ranges of memory are registered; register whole pools instead".formatted(count));
    }
    if (descriptor.byteSize() > limits.registeredBytes() - bytes) {
      throw new NixlException(
          Reason.BUSY,
          "%d bytes more than the %d that are registered exceed %d"
              .formatted(descriptor.byteSize(), bytes, limits.registeredBytes()));
    }
    var range =
        new Range(
            descriptor,
            agent.register(descriptor.address(), descriptor.byteSize(), descriptor.device()));
    var ofDevice =
        ranges.computeIfAbsent(
            range.descriptor.device(), _ -> new TreeMap<>(Long::compareUnsigned));
    // a larger one takes the place of a smaller one that begins with it: that one ends by its uses
    ofDevice.put(range.descriptor.address(), range);
    held.add(range);
    count++;
    bytes += range.byteSize();
    range.command.whenEnded(
        (_, failure) -> {
          if (failure != null) {
            forget(range);
          }
        });
    return range;
  }

  private synchronized void release(Use use) {
    if (use.isOver) {
      return;
    }
    use.isOver = true;
    var range = use.range;
    if (--range.uses > 0 || !held.contains(range)) {
      return;
    }
    if (range.isKept && kept.add(range)) {
      keptBytes += range.byteSize();
    }
    hide(range);
    range.command.whenEnded(
        (registration, failure) -> {
          if (failure == null && registration != null) {
            deregister(range, registration);
          }
        });
  }

  private void deregister(Range range, long registration) {
    agent
        .deregister(registration)
        .whenEnded(
            (_, failure) -> {
              if (failure == null) {
                forget(range);
              } else if (failure.reason() != Reason.CLOSED) { // its end lets go of all
                LOG.log(Level.WARNING, "memory was not deregistered: {0}", failure.getMessage());
              }
            });
  }

  private synchronized void hide(Range range) {
    var ofDevice = ranges.get(range.descriptor.device());
    if (ofDevice != null) {
      ofDevice.remove(range.descriptor.address(), range);
    }
  }

  private synchronized void forget(Range range) {
    hide(range);
    if (held.remove(range)) {
      count--;
      bytes -= range.byteSize();
    }
  }

  /** Returns the ranges that are registered, or on their way to or from it. */
  synchronized int count() {
    return count;
  }

  synchronized long keptBytes() {
    return keptBytes;
  }

  /** Lets go of all memory: called once the agent has ended. */
  synchronized void clear() {
    ranges.clear();
    held.clear();
    kept.clear();
    count = 0;
    bytes = 0;
    keptBytes = 0;
  }
}
