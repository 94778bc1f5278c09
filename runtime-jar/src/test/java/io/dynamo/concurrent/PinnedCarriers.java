package io.dynamo.concurrent;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A process with two carriers, both kept by threads that initialise classes, and the class
 * initialisers wait for a virtual thread that has no carrier. The argument says whether the
 * carriers are {@code watched}. Prints a word for each step.
 */
final class PinnedCarriers {
  static final String[] JVM_OPTIONS = {"-Djdk.virtualThreadScheduler.parallelism=2"};

  private static final CountDownLatch KEPT = new CountDownLatch(2);
  private static final CountDownLatch FREE = new CountDownLatch(1);

  private static final class First {
    static {
      keep();
    }

    static void use() {}
  }

  private static final class Second {
    static {
      keep();
    }

    static void use() {}
  }

  private PinnedCarriers() {}

  private static void keep() {
    KEPT.countDown();
    try {
      FREE.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] args) throws Exception {
    var pace =
        new CarrierWatch.Pace(Duration.ofMillis(50), Duration.ofMillis(200), Duration.ofSeconds(1));
    var watch = args[0].equals("watched") ? CarrierWatch.start(pace) : null;
    var users =
        new Thread[] {
          Thread.startVirtualThread(First::use), Thread.startVirtualThread(Second::use)
        };
    KEPT.await();
    var rescuer = Thread.startVirtualThread(FREE::countDown);
    if (!rescuer.join(Duration.ofSeconds(watch == null ? 5 : 60))) {
      System.out.println("stuck");
      System.exit(0);
    }
    for (var user : users) {
      user.join();
    }
    System.out.println("went on");
    var carriers = Carriers.find();
    if (carriers == null) {
      throw new IllegalStateException("no bean of virtual threads");
    }
    System.out.println(
        within30Seconds(() -> carriers.parallelism() == 2) ? "two carriers" : "more carriers");
    if (watch != null) {
      watch.close();
      System.out.println(within30Seconds(() -> !isWatched()) ? "no watch" : "still watched");
    }
  }

  private static boolean isWatched() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("carrier-watch"));
  }

  private static boolean within30Seconds(Callable<Boolean> condition) throws Exception {
    long start = System.nanoTime();
    while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(30)) {
      if (condition.call()) {
        return true;
      }
      Thread.sleep(20);
    }
    return false;
  }
}
