package io.dynamo.router.queue;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.QueuePolicy;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** An admission queue, the requests that wait in it and the room that they wait for. */
@Timeout(30)
abstract class WaitingRequests {
  static final Label[] LABELS = {
    new Label("model", "m"),
    new Label("worker_type", "decode"),
    new Label("policy_class", "default")
  };

  final Metrics metrics = new Metrics();
  final AtomicLong nanos = new AtomicLong();
  final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  final Semaphore room = new Semaphore(0);
  long cached;
  final List<String> placed = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  AdmissionQueue queue(QueuePolicy policy, int capacity) {
    return queue(policy, capacity, Duration.ofSeconds(20));
  }

  AdmissionQueue queue(QueuePolicy policy, int capacity, Duration timeout) {
    return new AdmissionQueue(
        new RouterSettings.Queueing(4, policy, capacity, timeout, Duration.ZERO),
        PolicyProfile.of(new RouterSettings.Queueing(4, policy, 1, timeout, Duration.ZERO)),
        () -> 1,
        it -> new QueueMeters(metrics, "m", it.name()),
        nanos::get);
  }

  AdmissionQueue.Attempt<String> attempt(String name) {
    return new AdmissionQueue.Attempt<>() {
      @Override
      public @Nullable String place(PolicyClass policy, long queuedNanos) {
        if (!room.tryAcquire()) {
          return null;
        }
        placed.add(name);
        return name;
      }

      @Override
      public long cachedTokens() {
        return cached;
      }
    };
  }

  static Ticket ticket(int strict, double jump, int tokens) {
    return new Ticket(
        "all",
        null,
        strict,
        jump,
        tokens,
        Deadline.after(Duration.ofMinutes(5)),
        new Cancellation());
  }

  /** Starts a request that waits; returns once it does. */
  CompletableFuture<String> waits(AdmissionQueue queue, Ticket ticket, String name) {
    int before = queue.waiting();
    var done = CompletableFuture.supplyAsync(() -> queue.admit(ticket, attempt(name)), threads);
    while (queue.waiting() == before && !done.isDone()) {
      Thread.onSpinWait();
    }
    return done;
  }

  void release(AdmissionQueue queue, int places) {
    room.release(places);
    queue.relieved();
  }

  static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(20, TimeUnit.SECONDS);
  }

  AdmissionQueue queue(int workers, PolicyProfile profile) {
    return new AdmissionQueue(
        new RouterSettings.Queueing(4, QueuePolicy.FCFS, 100, Duration.ofHours(1), Duration.ZERO),
        profile,
        () -> workers,
        it -> new QueueMeters(metrics, "m", it.name()),
        nanos::get);
  }
}
