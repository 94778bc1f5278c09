package io.dynamo.frontend.admission;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;

/**
 * Bytes of request bodies that are held at once, over all requests. A body that is alone always
 * fits, however large. Safe for concurrent use; never waits.
 */
public final class BodyBudget {
  /**
   * A body costs several times its bytes: the text, its tree and the rendered prompt stand beside
   * it until it is tokenised.
   */
  private static final int HEAP_SHARE = 8;

  private final long limitBytes;
  private long heldBytes; // guarded by this

  public BodyBudget(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /** A budget of an eighth of the largest heap. */
  static BodyBudget ofHeap() {
    return new BodyBudget(Runtime.getRuntime().maxMemory() / HEAP_SHARE);
  }

  /** The share of one request, empty at first. */
  public Share open() {
    return new Share();
  }

  /** Bytes held now, by all requests. */
  public synchronized long heldBytes() {
    return heldBytes;
  }

  /** What one request holds. For one thread at a time. */
  public final class Share implements AutoCloseable {
    private long bytes; // guarded by the budget

    private Share() {}

    /**
     * Takes room for more of the body, before it is read.
     *
     * @throws ApiException with 503 and {@code Retry-After} when the bodies of others leave none
     */
    public void take(int more) {
      synchronized (BodyBudget.this) {
        boolean alone = heldBytes == bytes;
        if (alone || heldBytes + more <= limitBytes) {
          bytes += more;
          heldBytes += more;
          return;
        }
      }
      throw new ApiException(
          ApiError.overloaded(
              503,
              ("the request bodies under way fill the %d bytes that are set aside for them, an"
                      + " eighth of the heap; retry shortly")
                  .formatted(limitBytes),
              1));
    }

    /** Gives back all that was taken. Idempotent. */
    @Override
    public void close() {
      synchronized (BodyBudget.this) {
        heldBytes -= bytes;
        bytes = 0;
      }
    }
  }
}
