package io.dynamo.transfer;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.transfer.TransferClient.Priority;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A copy of more ranges than a client takes at once: one part after the other, as one transfer. The
 * whole batch is checked first; the first part that fails ends it. Safe for concurrent use.
 */
public final class PartedCopy {
  /** Starts to copy one part. */
  @FunctionalInterface
  public interface Parts {
    /** Copies {@code part} as {@link TransferClient#copy} does. */
    Transfer copy(CopyBatch part);
  }

  private final Parts parts;
  private final CopyBatch batch;
  private final int most;
  private final Transfer whole = new Transfer(this::giveUp);
  private @Nullable Transfer running; // guarded by this, like the rest
  private boolean givenUp;
  private int next;
  private long moved;

  private PartedCopy(Parts parts, CopyBatch batch, int most) {
    this.parts = parts;
    this.batch = batch;
    this.most = most;
  }

  /**
   * Starts to copy a batch.
   *
   * @param most ranges of one part
   * @throws TransferBusyException when the client has no room for the first part
   */
  public static Transfer start(
      TransferClient client,
      BlockRegion source,
      BlockRegion target,
      CopyBatch batch,
      Priority priority,
      Deadline deadline,
      int most) {
    var copy =
        new PartedCopy(part -> client.copy(source, target, part, priority, deadline), batch, most);
    try {
      batch.requireWithin(source.byteSize(), target.byteSize());
      if (batch.isAmbiguous(source.equals(target))) {
        throw new IllegalArgumentException("ranges of the batch overlap");
      }
    } catch (IndexOutOfBoundsException | IllegalArgumentException refused) {
      copy.whole.fail(refused);
      return copy.whole;
    }
    copy.startNext();
    return copy.whole;
  }

  private synchronized void giveUp() {
    givenUp = true;
    if (running != null) {
      running.cancel();
    }
  }

  private void startNext() {
    Transfer part;
    synchronized (this) {
      if (givenUp) {
        whole.fail(new CancelledException("the transfer was cancelled"));
        return;
      }
      int end = Math.min(next + most, batch.count());
      part = parts.copy(batch.part(next, end));
      running = part;
      next = end;
    }
    var _ = part.outcome().whenComplete(this::ended);
  }

  private void ended(@Nullable Long bytes, @Nullable Throwable failure) {
    if (bytes == null) {
      whole.fail(cause(failure));
      return;
    }
    boolean isLast;
    synchronized (this) {
      moved += bytes;
      isLast = next == batch.count();
    }
    if (isLast) {
      whole.complete(moved);
      return;
    }
    try {
      startNext();
    } catch (RuntimeException refused) {
      whole.fail(refused);
    }
  }

  private static RuntimeException cause(@Nullable Throwable failure) {
    var cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
  }
}
