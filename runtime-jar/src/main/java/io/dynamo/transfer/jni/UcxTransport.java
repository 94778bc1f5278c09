package io.dynamo.transfer.jni;

import io.dynamo.natives.NativeStatus;
import io.dynamo.natives.NativeUcx;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToIntFunction;

/**
 * A transport of the native library: a thread there calls UCX, and a daemon thread of this object
 * ends commands as their events come. Safe for concurrent use.
 */
final class UcxTransport implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(UcxTransport.class.getName());
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos(); // re-checks that often
  private static final long END_NANOS = Duration.ofSeconds(10).toNanos();
  private static final Duration POLLER_END = Duration.ofSeconds(5);
  private static final long READY_SECONDS = 5;

  /**
   * The end of a command.
   *
   * @param number a lease, the bytes written, or of a failed write 1 when bytes may have been
   * @param bytes an offer, or why it failed
   */
  record Outcome(NativeStatus status, long code, long number, byte[] bytes) {
    private static Outcome refused(NativeStatus status) {
      return new Outcome(status, 0, 0, new byte[0]);
    }

    boolean isOk() {
      return status == NativeStatus.OK;
    }

    /** Returns why it failed, for an operator. */
    String reason() {
      var text = new String(bytes, StandardCharsets.UTF_8).strip();
      var known = text.isEmpty() ? status.toString() : text;
      return code == 0 ? known : "%s (UCX answers %d)".formatted(known, code);
    }
  }

  /** A command that runs; its outcome is completed once, on the thread of events or its own. */
  record Command(long ticket, CompletableFuture<Outcome> outcome) {}

  private final long handle;
  private final AtomicLong nextTicket = new AtomicLong(NativeUcx.OPEN_TICKET + 1);
  private final Map<Long, CompletableFuture<Outcome>> running = new ConcurrentHashMap<>();
  private final CompletableFuture<Outcome> ready = new CompletableFuture<>();
  private final Thread poller;

  /**
   * @param handle of the native transport, or a status
   * @param isForced whether bytes also go over TCP
   */
  UcxTransport(long handle, boolean isForced) {
    this.handle = handle;
    running.put(NativeUcx.OPEN_TICKET, ready);
    var _ = ready.thenAccept(outcome -> report(outcome, isForced));
    this.poller = Thread.ofPlatform().daemon().name("ucx-events").unstarted(this::poll);
    if (handle < 0) {
      ended(NativeUcx.OPEN_TICKET, Outcome.refused(NativeStatus.of(handle)));
      return;
    }
    try {
      poller.start();
    } catch (Error noThread) {
      NativeUcx.close(handle, END_NANOS);
      NativeUcx.forget(handle);
      throw noThread;
    }
  }

  private static void report(Outcome opened, boolean isForced) {
    if (!opened.isOk()) {
      LOG.log(
          Level.WARNING,
          "KV blocks go to other workers without UCX: {0}; it needs a network card with RDMA and"
              + " UCX 1.13 or later (dynamo.transfer.ucx.library)",
          opened.reason());
    } else if (isForced) {
      LOG.log(
          Level.WARNING,
          "KV blocks go to other workers by UCX, also over TCP, which lets every process that"
              + " reaches its ports write into this one: {0}; dynamo.transfer.ucx.mode=always is"
              + " for tests",
          opened.reason());
    } else {
      LOG.log(Level.INFO, "KV blocks go to other workers by UCX: {0}", opened.reason());
    }
  }

  /** Returns whether UCX works here; waits a limited time while it is opened. */
  boolean isReady() {
    return await(ready, READY_SECONDS).isOk();
  }

  /** Returns whether UCX works here, as far as that is known now. */
  boolean isReadyNow() {
    return ready.isDone() && ready.join().isOk();
  }

  /** Lends a region. Its outcome has the lease and the offer. */
  Outcome lend(long region, byte[] proof, long endNanos) {
    var command = submit(ticket -> NativeUcx.lend(handle, ticket, region, proof, endNanos));
    return await(command.outcome, READY_SECONDS);
  }

  /** Ends a lease. Returns false when the library has not confirmed that in time. */
  boolean endLease(long lease) {
    var ending = submit(ticket -> NativeUcx.endLease(handle, ticket, lease));
    var status = await(ending.outcome, Duration.ofNanos(END_NANOS).toSeconds()).status;
    return status == NativeStatus.OK
        || status == NativeStatus.STALE // all leases ended with the transport
        || status == NativeStatus.CANCELLED;
  }

  Command write(long region, long[] range, byte[] offer, byte[] proof, long deadlineNanos) {
    return submit(
        ticket -> NativeUcx.write(handle, ticket, region, range, offer, proof, deadlineNanos));
  }

  /** Gives a write up; its end follows. */
  void cancel(Command write) {
    NativeUcx.cancel(handle, write.ticket);
  }

  private Command submit(ToIntFunction<Long> call) {
    long ticket = nextTicket.getAndIncrement();
    var outcome = new CompletableFuture<Outcome>();
    running.put(ticket, outcome); // before its event can come
    var status = NativeStatus.BACKEND;
    try {
      status = NativeStatus.of(call.applyAsInt(ticket));
    } finally {
      if (status != NativeStatus.OK) {
        ended(ticket, Outcome.refused(status));
      }
    }
    return new Command(ticket, outcome);
  }

  /** Waits without being interrupted: what is awaited decides who may use memory. */
  private static Outcome await(CompletableFuture<Outcome> outcome, long seconds) {
    boolean interrupted = false;
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    try {
      while (true) {
        try {
          return outcome.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
          interrupted = true;
        } catch (TimeoutException late) {
          return Outcome.refused(NativeStatus.TIMEOUT);
        } catch (ExecutionException e) {
          throw new IllegalStateException("outcomes are never failures", e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void poll() {
    var numbers = new long[NativeUcx.EVENT_LONGS];
    try {
      while (true) {
        var text = NativeUcx.await(handle, LOOK_NANOS, numbers);
        var status = NativeStatus.of(numbers[1]);
        if (text != null) {
          ended(numbers[0], new Outcome(status, numbers[2], numbers[3], text));
        } else if (status != NativeStatus.TIMEOUT) {
          break; // closed, and nothing left
        }
      }
    } catch (RuntimeException | Error failure) {
      LOG.log(Level.ERROR, "the thread of UCX events failed", failure);
      NativeUcx.close(handle, 0);
    } finally {
      running.keySet().forEach(ticket -> ended(ticket, Outcome.refused(NativeStatus.CANCELLED)));
    }
  }

  private void ended(long ticket, Outcome outcome) {
    var command = running.remove(ticket);
    if (command != null) {
      command.complete(outcome);
    }
  }

  /** Ends all commands and leases. Idempotent. */
  @Override
  public void close() {
    if (handle < 0) {
      return;
    }
    boolean isOver = NativeStatus.of(NativeUcx.close(handle, END_NANOS)) == NativeStatus.OK;
    try {
      if (isOver && !poller.equals(Thread.currentThread()) && !poller.join(POLLER_END)) {
        LOG.log(Level.WARNING, "the thread of UCX events has not ended in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (isOver) {
      NativeUcx.forget(handle);
    } else {
      LOG.log(Level.WARNING, "UCX has not ended in time");
    }
  }
}
