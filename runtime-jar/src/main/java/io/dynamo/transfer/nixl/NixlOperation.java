package io.dynamo.transfer.nixl;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.transfer.nixl.NixlException.Reason;
import io.dynamo.transfer.nixl.OperationStatus.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One exchange of bytes with another process. It ends once: complete, cancelled by its owner, or
 * with a failure, at the latest when its time is over. Memory is registered from its beginning to
 * its end. Safe for concurrent use.
 *
 * <p>{@link #close} cancels it unless it has ended. It does not wait, and leaves registered what
 * {@link Descriptor#register} has.
 */
public abstract sealed class NixlOperation implements AutoCloseable
    permits PassiveOperation, ActiveOperation {
  /** How long the library may take to end an operation whose time is over. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  private final NixlConnection connection;
  private final OperationKind kind;
  private final List<Descriptor> local;
  private final List<RegistrationCache.Use> uses = new ArrayList<>();
  private final Deadline deadline;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private OperationStatus status = OperationStatus.UNINITIALIZED; // guarded by this
  private @Nullable NixlCommand<?> command; // guarded by this
  private boolean isCancelled; // guarded by this

  NixlOperation(
      Connector connector, OperationKind kind, List<Descriptor> local, Deadline deadline) {
    this.kind = kind;
    this.local = List.copyOf(local);
    if (local.isEmpty() || local.size() > RdmaMetadata.MAX_DESCRIPTORS) {
      throw new IllegalArgumentException(
          "%d descriptors; an operation has 1 to %d"
              .formatted(local.size(), RdmaMetadata.MAX_DESCRIPTORS));
    }
    for (var descriptor : local) {
      if (descriptor.device().kind() != local.getFirst().device().kind()) {
        throw new IllegalArgumentException(
            "descriptors of one operation are of one kind of device");
      }
      descriptor.requireMine(connector);
    }
    this.connection = connector.connection();
    this.deadline = deadline;
  }

  /** Registers the memory, and calls {@code then} with the registrations on the agent's thread. */
  final void registerAll(Consumer<List<Long>> then) {
    var cache = connection.registrations();
    try {
      for (var descriptor : local) {
        uses.add(cache.acquire(descriptor));
      }
    } catch (NixlException refused) {
      uses.forEach(RegistrationCache.Use::release);
      throw refused;
    }
    endInTime();
    var all = uses.stream().map(use -> use.registration().toCompletableFuture()).toList();
    var _ =
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
            .whenComplete(
                (_, thrown) -> {
                  var failure = NixlCommand.failure(thrown);
                  if (failure != null) {
                    end(Step.FAILED, failure, true);
                  } else {
                    then.accept(all.stream().map(CompletableFuture::join).toList());
                  }
                });
  }

  /** Ends the operation also when the library does not return. */
  private void endInTime() {
    var timer = new CompletableFuture<Void>();
    var _ = end.whenComplete((_, _) -> timer.complete(null));
    long nanos = Math.max(0, deadline.remainingNanos()) + GRACE.toNanos();
    var _ =
        timer
            .orTimeout(nanos, TimeUnit.NANOSECONDS)
            .exceptionally(
                _ -> {
                  var late = "NIXL has not ended the operation when its time was over";
                  end(Step.FAILED, new NixlException(Reason.EXPIRED, late), false);
                  return null;
                });
  }

  /** Runs the command whose end is the operation's; false when it was cancelled before. */
  final synchronized boolean runs(NixlCommand<?> started) {
    command = started;
    if (isCancelled) {
      started.cancel();
    }
    return !isCancelled;
  }

  /** Whether the operation was cancelled, or has ended otherwise. */
  final synchronized boolean isOver() {
    return isCancelled || status.isFinal();
  }

  final synchronized void step(Step step) {
    status = status.after(step);
  }

  /** Ends the operation by the end of its command. */
  final void endBy(@Nullable NixlException failure) {
    if (failure == null) {
      end(Step.DONE, null, true);
    } else if (failure.reason() == Reason.CANCELLED) {
      end(Step.CANCELLED, failure, isQuietAfter(failure.reason()));
    } else {
      end(Step.FAILED, failure, isQuietAfter(failure.reason()));
    }
  }

  abstract boolean isPassive();

  /** Whether the network cannot touch the memory any more after such an end. */
  abstract boolean isQuietAfter(Reason reason);

  /** Returns {@code local}, all of which may be written. */
  static List<Descriptor> writable(List<Descriptor> local) {
    for (var descriptor : local) {
      if (descriptor.isReadOnly()) {
        throw new IllegalArgumentException("a descriptor of read-only memory cannot be filled");
      }
    }
    return local;
  }

  /**
   * Ends the operation; only the first end counts.
   *
   * @param isQuiet whether the network touches the memory no more
   */
  final void end(Step step, @Nullable NixlException failure, boolean isQuiet) {
    synchronized (this) {
      if (status.isFinal()) {
        return;
      }
      status = status.after(step);
    }
    for (var use : uses) {
      if (isQuiet) {
        use.release();
      } else {
        use.releaseButKeep();
      }
    }
    if (failure == null) {
      end.complete(null);
    } else {
      end.completeExceptionally(failure);
    }
  }

  final NixlConnection connection() {
    return connection;
  }

  final Deadline deadline() {
    return deadline;
  }

  /** Returns what the active side does. */
  public final OperationKind kind() {
    return kind;
  }

  final List<Descriptor> local() {
    return local;
  }

  /** Returns how far the operation is. Never waits. */
  public final OperationStatus status() {
    NixlCommand<?> running;
    synchronized (this) {
      running = command;
    }
    int phase = running == null || isPassive() ? 0 : running.phase();
    synchronized (this) {
      if (phase >= 1) {
        status = status.after(Step.POSTED);
      }
      if (phase >= 2) {
        status = status.after(Step.POLLED);
      }
      return status;
    }
  }

  /**
   * Returns a stage that ends when the operation is complete, or with a {@link NixlException}. Runs
   * on the agent's thread: long stages belong on an executor.
   */
  public final CompletionStage<Void> completion() {
    return end.minimalCompletionStage();
  }

  /**
   * Waits for the end.
   *
   * @throws NixlException when it failed or was cancelled
   * @throws DeadlineExceededException when {@code timeout} passes first; the operation goes on
   */
  public final void await(Duration timeout) throws InterruptedException {
    await(end, timeout);
  }

  static <T> T await(CompletableFuture<T> future, Duration timeout) throws InterruptedException {
    try {
      return future.get(
          Math.max(0, Deadline.after(timeout).remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException _) {
      throw new DeadlineExceededException(
          "the operation has not ended in %d ms".formatted(timeout.toMillis()));
    } catch (ExecutionException e) {
      var failure = NixlCommand.failure(e.getCause());
      throw failure == null ? new IllegalStateException(e) : failure;
    }
  }

  /** Gives the operation up; its end follows. Of no effect on one that has ended. */
  public final void cancel() {
    NixlCommand<?> running;
    synchronized (this) {
      if (status.isFinal()) {
        return;
      }
      isCancelled = true;
      running = command;
    }
    if (running != null) {
      running.cancel();
    }
  }

  @Override
  public final void close() {
    cancel();
  }

  @Override
  public String toString() {
    return "%s of %d descriptors, %s".formatted(getClass().getSimpleName(), local.size(), status());
  }
}
