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
  private static final Duration LEND = Duration.ofSeconds(5);
  private static final Duration LEASE_END = Duration.ofSeconds(10);
  // all exchanges together have eight seconds
  private static final Duration CLOSE = Duration.ofSeconds(4);

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
      boolean isAnswered = code != 0 && code != NativeUcx.NO_ANSWER;
      return !isAnswered ? known : "%s (UCX answers %d)".formatted(known, code);
    }
  }

  /** A command that runs; its outcome is completed once, on the thread of events or its own. */
  record Command(long ticket, CompletableFuture<Outcome> outcome) {}

  private final long handle;
  private final AtomicLong nextTicket = new AtomicLong(NativeUcx.OPEN_TICKET + 1);
  private final Map<Long, CompletableFuture<Outcome>> running = new ConcurrentHashMap<>();
  private final CompletableFuture<Outcome> ready = new CompletableFuture<>();
  private final CompletableFuture<Outcome> over = new CompletableFuture<>(); // after the last event
  private volatile CompletableFuture<Outcome> lateLend = ready; // the last one that was given up
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
      over.complete(Outcome.refused(NativeStatus.STALE));
      return;
    }
    try {
      poller.start();
    } catch (Error noThread) {
      NativeUcx.close(handle, 0);
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
  boolean isReady(Duration limit) {
    return await(ready, limit).isOk();
  }

  /** Returns whether UCX works here, as far as that is known now. */
  boolean isReadyNow() {
    return ready.isDone() && ready.join().isOk();
  }

  /**
   * Lends a region. Its outcome has the lease and the offer. When the library does not answer in
   * time, that is {@link NativeStatus#TIMEOUT}, at once for all others until it has answered.
   */
  Outcome lend(long region, byte[] proof, long endNanos) {
    var earlier = lateLend;
    if (!earlier.isDone()) {
      return Outcome.refused(NativeStatus.TIMEOUT);
    }
    var command = submit(ticket -> NativeUcx.lend(handle, ticket, region, proof, endNanos));
    var outcome = await(command.outcome, LEND);
    if (outcome.status == NativeStatus.TIMEOUT) {
      lateLend = command.outcome;
      var _ = command.outcome.thenAccept(this::endUnused);
    }
    return outcome;
  }

  /** Ends a lease that nobody waits for any more. */
  private void endUnused(Outcome lent) {
    if (lent.isOk()) {
      var _ = submit(ticket -> NativeUcx.endLease(handle, ticket, lent.number));
    }
  }

  /** Ends a lease. Returns false when the library has not confirmed that in time. */
  boolean endLease(long lease) {
    var ending = submit(ticket -> NativeUcx.endLease(handle, ticket, lease));
    var status = await(ending.outcome, LEASE_END).status;
    boolean isClosing = status == NativeStatus.STALE || status == NativeStatus.CANCELLED;
    return status == NativeStatus.OK || (isClosing && isOver());
  }

  /** Closes the transport, and returns whether it has ended in time, with all of its leases. */
  private boolean isOver() {
    NativeUcx.close(handle, 0);
    if (!poller.equals(Thread.currentThread())) {
      await(over, CLOSE);
    }
    return NativeStatus.of(NativeUcx.close(handle, 0)) == NativeStatus.OK;
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
  private static Outcome await(CompletableFuture<Outcome> outcome, Duration limit) {
    boolean interrupted = false;
    long until = System.nanoTime() + limit.toNanos();
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
      over.complete(Outcome.refused(NativeStatus.STALE));
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
    if (isOver()) {
      NativeUcx.forget(handle);
    } else {
      LOG.log(Level.WARNING, "UCX has not ended in time");
    }
  }
}
