package io.dynamo.frontend.media;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks the machine's resolver, on a few platform threads of its own: a lookup blocks in native code
 * and would hold a carrier of virtual threads. Safe for concurrent use; callers wait.
 */
public final class SystemResolver implements HostResolver, AutoCloseable {
  private static final int THREADS = 8;
  private static final int WAITING = 256;

  private final ThreadPoolExecutor pool;

  public SystemResolver() {
    pool =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING),
            Thread.ofPlatform().name("dynamo-media-lookup-", 0).daemon().factory());
    pool.allowCoreThreadTimeOut(true);
  }

  @Override
  public List<InetAddress> resolve(String host, Duration limit) throws InterruptedException {
    try {
      var lookup = pool.submit(() -> InetAddress.getAllByName(host));
      try {
        return List.of(lookup.get(Math.max(1, limit.toNanos()), TimeUnit.NANOSECONDS));
      } finally {
        if (lookup.cancel(false)) {
          pool.purge();
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownHostException) {
        return List.of();
      }
      throw new IllegalStateException("a host could not be looked up", e.getCause());
    } catch (RejectedExecutionException | TimeoutException e) {
      return List.of();
    }
  }

  @Override
  public void close() {
    pool.shutdownNow();
  }
}
