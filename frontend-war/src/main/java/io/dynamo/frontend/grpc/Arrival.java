package io.dynamo.frontend.grpc;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory of the messages of one call that arrive and are not yet taken: gRPC holds them until
 * they are whole, and their requests until they are read. It is charged to the budget of all
 * request bodies, and a call that must yield to others, or finds no room, is refused. Safe for
 * concurrent use; never blocks.
 */
final class Arrival extends ServerStreamTracer {
  private static final Context.Key<Arrival> KEY = Context.key("arrival");

  private static final ApiError YIELDED =
      ApiError.overloaded(
          503,
          "the message gave its memory to those of other calls; retry shortly, or send it faster",
          1);

  private final BodyBudget.Share share;
  private final Executor executor;
  private long bytes; // guarded by this
  private long most = Long.MAX_VALUE; // guarded by this
  private boolean over; // guarded by this
  private @Nullable ApiError refusal; // guarded by this
  private @Nullable Consumer<ApiError> onRefused; // guarded by this
  private @Nullable Runnable onFirstByte; // guarded by this

  private Arrival(BodyBudget.Share share, Executor executor) {
    this.share = share;
    this.executor = executor;
  }

  /** Creates one for each call. */
  static final class Factory extends ServerStreamTracer.Factory {
    private final Supplier<BodyBudget.Share> shares;
    private final Executor executor;

    /**
     * @param executor ends calls that must yield
     */
    Factory(Supplier<BodyBudget.Share> shares, Executor executor) {
      this.shares = shares;
      this.executor = executor;
    }

    @Override
    public ServerStreamTracer newServerStreamTracer(String fullMethodName, Metadata headers) {
      return new Arrival(shares.get(), executor);
    }
  }

  /** The arrivals of the call whose context is current. */
  static Arrival current() {
    var current = KEY.get();
    if (current == null) {
      throw new IllegalStateException("the server has no tracer of arrivals");
    }
    return current;
  }

  @Override
  public Context filterContext(Context context) {
    return context.withValue(KEY, this);
  }

  /**
   * Sets the listeners; either event may have happened.
   *
   * @param refused ends the call, as there is no room for its messages
   * @param firstByte runs at the first byte of each message
   */
  void listen(Consumer<ApiError> refused, Runnable firstByte) {
    ApiError known;
    boolean begun;
    synchronized (this) {
      onRefused = refused;
      onFirstByte = firstByte;
      known = refusal;
      begun = bytes > 0;
    }
    if (known != null) {
      refused.accept(known);
    } else if (begun) {
      firstByte.run();
    }
  }

  /** Refuses messages longer than that before they are whole. */
  void limit(int messageBytes) {
    long total;
    synchronized (this) {
      most = messageBytes;
      total = bytes;
    }
    check(total, messageBytes);
  }

  private boolean check(long total, long limit) {
    if (total > limit) {
      refuse(
          ApiError.of(
              413,
              "the request is longer than the %d bytes that its method takes".formatted(limit)));
    }
    return total <= limit;
  }

  @Override
  public void inboundWireSize(long more) {
    Runnable first = null;
    long total;
    long limit;
    synchronized (this) {
      if (over) {
        return;
      }
      if (bytes == 0) {
        first = onFirstByte;
      }
      bytes += more;
      total = bytes;
      limit = most;
    }
    if (!check(total, limit)) {
      return;
    }
    try {
      // elsewhere, as it is called with the lock of the budget
      share.onYield(() -> executor.execute(() -> refuse(YIELDED)));
      share.chargeArrived(total);
    } catch (ApiException noRoom) {
      refuse(noRoom.error());
    }
    if (first != null) {
      first.run();
    }
  }

  private void refuse(ApiError error) {
    Consumer<ApiError> listener;
    synchronized (this) {
      if (over || refusal != null) {
        return;
      }
      refusal = error;
      listener = onRefused;
    }
    if (listener != null) {
      listener.accept(error);
    }
  }

  /** The messages that came are not held any more. */
  void taken() {
    synchronized (this) {
      bytes = 0;
    }
    try {
      share.chargeArrived(0);
    } catch (ApiException yielded) {
      refuse(yielded.error());
    }
  }

  @Override
  public void streamClosed(Status status) {
    synchronized (this) {
      over = true;
    }
    share.close();
  }
}
