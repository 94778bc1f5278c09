package io.dynamo.frontend.media;

import io.dynamo.frontend.admission.BodyBudget;
import java.util.concurrent.CancellationException;

/**
 * The memory that a request's media take while they are fetched, charged to the request. Several
 * threads add to it, until the request goes on without those that are late.
 */
final class MediaCharge implements AutoCloseable {
  private final BodyBudget.Share share;
  private long bytes; // guarded by this
  private boolean closed; // guarded by this

  MediaCharge(BodyBudget.Share share) {
    this.share = share;
  }

  /**
   * Charges more bytes.
   *
   * @throws io.dynamo.frontend.ApiException with 503 when there is no room
   * @throws CancellationException once the request has gone on
   */
  synchronized void add(long more) {
    if (closed) {
      throw new CancellationException("the request no longer waits for its media");
    }
    share.gather(more);
    bytes += more;
  }

  /** Takes back bytes that were charged and are not held any more. */
  synchronized void release(long fewer) {
    if (!closed) {
      share.gather(-fewer);
      bytes -= fewer;
    }
  }

  /**
   * Leaves memory outside the heap to the request, which frees it at its end.
   *
   * @throws CancellationException once the request has gone on; then nothing is freed
   */
  synchronized void keep(Runnable release) {
    if (closed) {
      throw new CancellationException("the request no longer waits for its media");
    }
    share.onClose(release);
  }

  synchronized long bytes() {
    return bytes;
  }

  /** Refuses further bytes. What was charged stays with the request. */
  @Override
  public synchronized void close() {
    closed = true;
  }
}
