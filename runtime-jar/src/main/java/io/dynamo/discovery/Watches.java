package io.dynamo.discovery;

import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The watches of one backend. Each remembers the records that it has reported to its listener and
 * reports the difference to the present ones, so that a missed notification delays changes but
 * loses none. Watches are added and removed on any thread; {@link #report} is called on the
 * backend's single thread. For backends.
 */
public final class Watches {
  private static final System.Logger LOG = System.getLogger(Watches.class.getName());

  private static final class Watch<R extends DiscoveryRecord> {
    final Class<R> kind;
    final Consumer<DiscoveryEvent<R>> listener;
    final Map<String, R> reported = new HashMap<>(); // by the backend's thread only
    volatile boolean closed;

    Watch(Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
      this.kind = kind;
      this.listener = listener;
    }

    void report(Map<String, DiscoveryRecord> present) {
      for (var key : List.copyOf(reported.keySet())) {
        if (!kind.isInstance(present.get(key))) {
          report(new DiscoveryEvent.Lost<>(Objects.requireNonNull(reported.remove(key))));
        }
      }
      present.forEach(
          (key, record) -> {
            if (kind.isInstance(record) && !record.equals(reported.get(key))) {
              var current = kind.cast(record);
              reported.put(key, current);
              report(new DiscoveryEvent.Added<>(current));
            }
          });
    }

    private void report(DiscoveryEvent<R> event) {
      if (closed) {
        return;
      }
      try {
        listener.accept(event);
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, "a discovery listener failed; the watch goes on", e);
      }
    }
  }

  private final List<Watch<?>> watches = new CopyOnWriteArrayList<>();

  /** Returns the path under which {@link #report} expects a record. */
  public static String path(DiscoveryRecord record) {
    return record.bucket() + "/" + record.key();
  }

  /**
   * Refuses to replace a record by one of another path.
   *
   * @throws IllegalArgumentException when the paths differ
   */
  public static void requireSamePath(DiscoveryRecord before, DiscoveryRecord now) {
    if (!path(before).equals(path(now))) {
      throw new IllegalArgumentException(path(now) + " is not where " + path(before) + " is");
    }
  }

  /** Adds a watch; the next {@link #report} reports all records to it. */
  public <R extends DiscoveryRecord> Discovery.Handle add(
      Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
    var watch = new Watch<>(kind, listener);
    watches.add(watch);
    return () -> {
      watch.closed = true;
      watches.remove(watch);
    };
  }

  /**
   * Reports to every watch how {@code present} differs from the records that it last reported, in
   * the order of the paths.
   *
   * @param present all existing records, by {@link #path}
   */
  public void report(Map<String, DiscoveryRecord> present) {
    var ordered = new TreeMap<>(present);
    watches.forEach(watch -> watch.report(ordered));
  }
}
