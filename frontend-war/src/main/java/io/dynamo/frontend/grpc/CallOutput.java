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

/**
 * The answers of one call. Whoever sends is blocked while the client does not read, for a bounded
 * time. Safe for concurrent use.
 */
final class CallOutput {
  private static final long RECHECK_NANOS = TimeUnit.SECONDS.toNanos(1); // a wake-up may be missed

  private final ServerCall<byte[], byte[]> call;
  private final Duration writeStall;
  private final ReentrantLock lock = new ReentrantLock(); // held for every use of the call
  private final Condition changed = lock.newCondition();
  private boolean begun; // guarded by lock
  private boolean closed; // guarded by lock

  /**
   * @param writeStall how long a client may leave its answer unread
   */
  CallOutput(ServerCall<byte[], byte[]> call, Duration writeStall) {
    this.call = call;
    this.writeStall = writeStall;
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
   * Sends a message; blocks while the client has not read the ones before.
   *
   * @throws UncheckedIOException when the call is over
   */
  void send(byte[] message) {
    lock.lock();
    try {
      awaitReady();
      if (!begun) {
        begun = true;
        call.sendHeaders(new Metadata());
      }
      call.sendMessage(message);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw gone("the sender was interrupted");
    } finally {
      lock.unlock();
    }
  }

  private void awaitReady() throws InterruptedException {
    if (closed || call.isCancelled()) {
      throw gone("the call is over");
    }
    if (!begun || call.isReady()) {
      return;
    }
    long end = System.nanoTime() + writeStall.toNanos();
    while (!call.isReady()) {
      long left = end - System.nanoTime();
      if (closed || call.isCancelled()) {
        throw gone("the call is over");
      }
      if (left <= 0) {
        reset();
        throw gone("the client does not read");
      }
      var _ = changed.awaitNanos(Math.min(left, RECHECK_NANOS));
    }
  }

  /** Ends the call together with all that its client has not read. Called with the lock. */
  private void reset() {
    closed = true;
    call.sendMessage(MessageBytes.RESET);
    changed.signalAll();
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

  /** Ends the call, unless it is over. */
  void close(Status status, Metadata trailers) {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        if (!call.isCancelled()) {
          call.close(status, trailers);
        }
        changed.signalAll();
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
