package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.natives.CudaDevices;
import io.dynamo.natives.NativeStatus;
import io.dynamo.transfer.DeviceLostException;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferBusyException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The requests that run on one GPU: a daemon thread of its own ends each as its completion comes.
 * Safe for concurrent use; only {@link #close} waits.
 *
 * <p>A platform thread waits for completions, since a native frame pins the carrier of a virtual
 * one.
 */
final class DeviceRequests {
  private static final System.Logger LOG = System.getLogger(DeviceRequests.class.getName());
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos(); // re-checks that often
  private static final long DRAIN_NANOS = Duration.ofSeconds(1).toNanos();
  private static final Duration POLLER_END = Duration.ofSeconds(30);

  /** Passes one request to the native library. */
  @FunctionalInterface
  interface Submission {
    /**
     * Returns a status code.
     *
     * @param deadlineNanos in terms of {@link System#nanoTime()}, never 0
     */
    int submit(long ticket, long deadlineNanos);
  }

  /** Tells the failure of a request that the library refused or ended. */
  @FunctionalInterface
  interface Failures {
    RuntimeException of(NativeStatus status);
  }

  private record Running(Transfer transfer, Failures failures) {}

  private final long device;
  private final String name;
  private final Runnable tick;
  private final AtomicLong nextTicket = new AtomicLong(1);
  private final Map<Long, Running> running = new ConcurrentHashMap<>(); // by ticket
  private final AtomicBoolean lossReported = new AtomicBoolean();
  private final Thread poller;

  /**
   * @param tick called about every second on the thread of completions
   */
  DeviceRequests(long device, String name, Runnable tick) {
    this.device = device;
    this.name = name;
    this.tick = tick;
    this.poller = Thread.ofPlatform().daemon().name("cuda-completions").unstarted(this::poll);
  }

  void start() {
    poller.start();
  }

  /**
   * Starts a request. One that the library refuses ends at once with its failure.
   *
   * @throws TransferBusyException when too many run
   * @throws IllegalStateException when the device is closed
   */
  Transfer start(Deadline deadline, Submission submission, Failures failures) {
    long ticket = nextTicket.getAndIncrement();
    var transfer = new Transfer(() -> CudaDevices.cancel(device, ticket));
    running.put(ticket, new Running(transfer, failures)); // before its completion can come
    var status = NativeStatus.BACKEND;
    try {
      long until = deadline.nanoTime() == 0 ? 1 : deadline.nanoTime(); // 0 stands for none
      status = NativeStatus.of(submission.submit(ticket, until));
    } finally {
      if (status != NativeStatus.OK) {
        running.remove(ticket);
      }
    }
    switch (status) {
      case OK -> {}
      case BUSY -> throw new TransferBusyException(CudaDevices.MAX_REQUESTS);
      case UNSUPPORTED -> throw failure(status, failures);
      case BACKEND,
          IO,
          TIMEOUT,
          CANCELLED,
          INVALID,
          RANGE,
          STALE,
          NO_MEMORY,
          CORRUPT,
          PEER_LOST,
          DEVICE_LOST,
          AUTH ->
          transfer.fail(failure(status, failures));
    }
    return transfer;
  }

  /** Returns the failure that a status of any call on this device stands for. */
  RuntimeException failure(NativeStatus status, Failures failures) {
    return switch (status) {
      case CANCELLED -> new CancelledException("the transfer was cancelled");
      case TIMEOUT -> new DeadlineExceededException("the deadline of the transfer passed");
      case DEVICE_LOST -> lost();
      case BACKEND ->
          new IllegalStateException(
              "the driver of the GPU %s refused it: %s".formatted(name, lastFailure()));
      case OK, IO, INVALID, RANGE, STALE, UNSUPPORTED, NO_MEMORY, BUSY, CORRUPT, PEER_LOST, AUTH ->
          failures.of(status);
    };
  }

  private DeviceLostException lost() {
    var failure = lastFailure();
    if (!lossReported.getAndSet(true)) {
      LOG.log(Level.ERROR, "the GPU {0} is lost, transfers to it end: {1}", name, failure);
    }
    return new DeviceLostException(name, failure);
  }

  private String lastFailure() {
    return Objects.requireNonNullElse(CudaDevices.lastFailure(device), "no reason is known");
  }

  private void poll() {
    var ended = new long[CudaDevices.MAX_REQUESTS * CudaDevices.COMPLETION_LONGS];
    long ticked = System.nanoTime();
    try {
      while (true) {
        long count = CudaDevices.await(device, LOOK_NANOS, ended);
        if (count < 0) {
          break;
        }
        for (int i = 0;
            i < count * CudaDevices.COMPLETION_LONGS;
            i += CudaDevices.COMPLETION_LONGS) {
          completed(ended[i], NativeStatus.of(ended[i + 1]), ended[i + 2]);
        }
        if (System.nanoTime() - ticked >= LOOK_NANOS) {
          ticked = System.nanoTime();
          tick.run();
        }
      }
    } catch (RuntimeException | Error failure) {
      LOG.log(Level.ERROR, "the thread of a GPU's completions failed", failure);
      CudaDevices.close(device, 0);
    } finally {
      running.keySet().forEach(ticket -> completed(ticket, NativeStatus.CANCELLED, 0));
    }
  }

  private void completed(long ticket, NativeStatus status, long bytes) {
    var one = running.remove(ticket);
    if (one == null) {
      return;
    }
    if (status == NativeStatus.OK) {
      one.transfer.complete(bytes);
    } else {
      one.transfer.fail(failure(status, one.failures));
    }
  }

  /** Ends all requests, and returns when the GPU has let go of their regions. Idempotent. */
  void close() {
    CudaDevices.close(device, DRAIN_NANOS);
    boolean interrupted = false;
    try {
      if (!poller.equals(Thread.currentThread()) && !poller.join(POLLER_END)) {
        LOG.log(Level.WARNING, "the thread of a GPU's completions has not ended in time");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
