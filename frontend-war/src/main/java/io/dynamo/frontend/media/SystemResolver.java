package io.dynamo.frontend.media;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks the machine's resolver, on platform threads of its own: a lookup blocks in native code,
 * where it cannot be interrupted, and would hold a carrier of virtual threads. Those who ask for
 * one name share a lookup; names of one domain have a part of the threads, and one that was slow is
 * not looked up again for a while. Safe for concurrent use; callers wait.
 */
public final class SystemResolver implements HostResolver, AutoCloseable {
  private static final int LEAST_THREADS = 8;
  private static final int DOMAIN_PART = 8; // of the threads, for one domain
  private static final Duration SLOW = Duration.ofSeconds(2);
  private static final Duration AVOIDED = Duration.ofSeconds(30);

  /** Asks for the addresses of a name; blocks without a bound. */
  @FunctionalInterface
  interface Lookup {
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  private record Running(String host, long began, CompletableFuture<List<InetAddress>> result) {}

  private final Lookup lookup;
  private final Duration slow;
  private final ThreadPoolExecutor pool;
  private final Semaphore free; // threads
  private final DomainSlots domains;
  private final RecentNames slowNames = new RecentNames(AVOIDED, System::nanoTime);
  private final ConcurrentHashMap<String, Running> running = new ConcurrentHashMap<>();

  /**
   * @param fetches that may wait for an address at once
   */
  public SystemResolver(int fetches) {
    this(InetAddress::getAllByName, Math.max(LEAST_THREADS, fetches), SLOW);
  }

  /**
   * @param slow how long an answer may take, before its name is left alone for a while
   */
  SystemResolver(Lookup lookup, int threads, Duration slow) {
    this.lookup = lookup;
    this.slow = slow;
    domains = new DomainSlots(Math.max(1, threads / DOMAIN_PART));
    free = new Semaphore(threads);
    pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(threads), // for a thread that is about to be free
            Thread.ofPlatform().name("dynamo-media-lookup-", 0).daemon().factory());
    pool.allowCoreThreadTimeOut(true);
  }

  @Override
  public List<InetAddress> resolve(String host, Duration limit)
      throws InterruptedException, MediaException {
    if (slowNames.has(host)) {
      return List.of();
    }
    long end = System.nanoTime() + limit.toNanos();
    var asked = running(host, end);
    if (asked == null) {
      return List.of();
    }
    try {
      return asked.result.get(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      noteIfSlow(asked);
      return List.of();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof MediaException full) {
        throw full;
      }
      throw new IllegalStateException("a host could not be looked up", e.getCause());
    }
  }

  /** Joins or begins the lookup of a name; returns null when its domain has too many. */
  private @Nullable Running running(String host, long end) throws InterruptedException {
    var known = running.get(host);
    if (known != null) {
      return known;
    }
    var slot = domains.acquire(host, end - System.nanoTime());
    if (slot == null) {
      return null;
    }
    var own = new Running(host, System.nanoTime(), new CompletableFuture<>());
    var other = running.putIfAbsent(host, own);
    if (other != null) {
      slot.close();
      return other;
    }
    if (free.tryAcquire()) {
      pool.execute(() -> run(own, slot));
    } else {
      running.remove(host);
      slot.close();
      own.result.completeExceptionally(MediaException.overloaded());
    }
    return own;
  }

  private void run(Running asked, DomainSlots.Slot slot) {
    List<InetAddress> addresses = List.of();
    Throwable failure = null;
    try {
      addresses = List.of(lookup.addresses(asked.host));
      slowNames.remove(asked.host);
    } catch (UnknownHostException e) {
      noteIfSlow(asked);
    } catch (RuntimeException | Error e) {
      failure = e;
    }
    running.remove(asked.host);
    slot.close();
    free.release();
    if (failure == null) {
      asked.result.complete(addresses);
    } else {
      asked.result.completeExceptionally(failure);
    }
  }

  private void noteIfSlow(Running asked) {
    if (System.nanoTime() - asked.began >= slow.toNanos()) {
      slowNames.add(asked.host);
    }
  }

  @Override
  public void close() {
    pool.shutdownNow();
  }
}
