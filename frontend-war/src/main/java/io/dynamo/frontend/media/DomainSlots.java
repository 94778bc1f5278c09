package io.dynamo.frontend.media;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how much goes on at once with hosts of one domain, so that a slow one leaves room for
 * others. A domain is what one can register: who has it can name any number of hosts. Safe for
 * concurrent use; callers wait in turn.
 */
final class DomainSlots {
  /** Labels under a country's domain below which names are registered, as in {@code co.uk}. */
  private static final Set<String> REGISTRIES =
      Set.of("ac", "co", "com", "edu", "go", "gob", "gov", "ne", "net", "nom", "or", "org");

  private static final int COUNTRY = 2; // letters

  /** A place that is taken until it is closed. */
  @FunctionalInterface
  interface Slot extends AutoCloseable {
    @Override
    void close();
  }

  private static final class Places {
    private final Semaphore free;
    private int users; // that have or want one; guarded by the map

    Places(int most) {
      free = new Semaphore(most, true);
    }
  }

  private final int most;
  private final Map<String, Places> byDomain = new HashMap<>(); // guarded by itself

  /**
   * @param most at once for one domain
   */
  DomainSlots(int most) {
    this.most = most;
  }

  /** Takes a place of the host's domain; returns null when none becomes free in time. */
  @Nullable Slot acquire(String host, long waitNanos) throws InterruptedException {
    var domain = domain(host);
    Places places;
    synchronized (byDomain) {
      places = byDomain.computeIfAbsent(domain, _ -> new Places(most));
      places.users++;
    }
    boolean taken = false;
    try {
      taken = places.free.tryAcquire(Math.max(0, waitNanos), TimeUnit.NANOSECONDS);
    } finally {
      if (!taken) {
        leave(domain, places);
      }
    }
    return taken
        ? () -> {
          places.free.release();
          leave(domain, places);
        }
        : null;
  }

  private void leave(String domain, Places places) {
    synchronized (byDomain) {
      if (--places.users == 0) {
        byDomain.remove(domain);
      }
    }
  }

  /** The domain of a host name in lower case; an address is its own. */
  static String domain(String host) {
    var labels = List.of(host.split("\\.", -1));
    int count = labels.size();
    if (count <= 2 || host.indexOf(':') >= 0 || Character.isDigit(labels.getLast().charAt(0))) {
      return host;
    }
    boolean isRegistry =
        labels.getLast().length() == COUNTRY && REGISTRIES.contains(labels.get(count - 2));
    return String.join(".", labels.subList(count - (isRegistry ? 3 : 2), count));
  }
}
