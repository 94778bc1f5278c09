package io.dynamo.frontend.grpc;

import io.dynamo.frontend.ApiError;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The answers of one call. Whoever sends is blocked until the client has room for the message, for
 * a bounded time: no more than one waits in memory, and the end of a call waits behind none. One
 * thread at a time sends, which is not one that gRPC calls listeners on; others may end the call.
 */
final class CallOutput {
  private static final long RECHECK_NANOS = TimeUnit.SECONDS.toNanos(1); // a wake-up may be missed

  private final ServerCall<byte[], byte[]> call;
  private final Duration writeStall;
  private final ReentrantLock lock = new ReentrantLock(); // held for every use of the call
  private final Condition changed = lock.newCondition();
  private boolean begun; // guarded by lock
  private boolean sending; // guarded by lock
  private boolean closed; // guarded by lock
  private @Nullable Ending ending; // waits for a message that is being sent; guarded by lock

  private record Ending(Status status, Metadata trailers) {}

  /**
   * Created while the call starts.
   *
   * @param writeStall how long a client may leave its answer unread
   */
  CallOutput(ServerCall<byte[], byte[]> call, Duration writeStall) {
    this.call = call;
    this.writeStall = writeStall;
    call.setOnReadyThreshold(1); // ready is when nothing is left to be written
  }

  /** Lets the client send another message. */
  void request() {
    lock.lock();
    try {
      if (!closed) {
        call.request(1);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends a message; blocks until it has left.
   *
   * @throws UncheckedIOException when the call is over
   */
  void send(byte[] message) {
    lock.lock();
    try {
      if (closed || call.isCancelled()) {
        throw gone("the call is over");
      }
      if (!begun) {
        begun = true;
        call.sendHeaders(new Metadata());
      }
      sending = true;
      call.sendMessage(message);
      awaitSent();
    } finally {
      sending = false;
      lock.unlock();
    }
  }

  private void awaitSent() {
    long end = System.nanoTime() + writeStall.toNanos();
    while (!call.isReady()) {
      long left = end - System.nanoTime();
      if (call.isCancelled()) {
        throw gone("the call is over");
      }
      if (left <= 0) {
        reset();
        throw gone("the client does not read");
      }
      try {
        var _ = changed.awaitNanos(Math.min(left, RECHECK_NANOS));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        reset();
        throw gone("the sender was interrupted");
      }
    }
    if (ending != null) {
      call.close(ending.status, ending.trailers);
      throw gone("the call is over");
    }
  }

  /** Ends the call together with all that its client has not read. Called with the lock. */
  private void reset() {
    closed = true;
    call.sendMessage(MessageBytes.RESET);
  }

  private static UncheckedIOException gone(String why) {
    return new UncheckedIOException(new IOException(why));
  }

  /** Wakes whoever waits: the client has read, or is gone. */
  void wake() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the call with success. */
  void complete() {
    close(Status.OK, new Metadata());
  }

  /**
   * Ends the call with an error in place of an answer.
   *
   * @throws UncheckedIOException when the call is over
   */
  void refuse(ApiError error) {
    if (isOver()) {
      throw gone("the call is over");
    }
    fail(error);
  }

  /** Ends the call with an error, unless it is over. */
  void fail(ApiError error) {
    close(GrpcStatus.of(error), GrpcStatus.trailers(error));
  }

  /** Ends the call, unless it is over; after the message that is being sent. Never blocks. */
  void close(Status status, Metadata trailers) {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        if (sending) {
          ending = new Ending(status, trailers);
        } else if (!call.isCancelled()) {
          call.close(status, trailers);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isOver() {
    lock.lock();
    try {
      return closed || call.isCancelled();
    } finally {
      lock.unlock();
    }
  }
}
