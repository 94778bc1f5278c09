package io.dynamo.worker.serve;

import io.dynamo.concurrent.Deadline;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.TokenStream;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Wraps another handler, and can end its streams early so that their requesters continue on another
 * worker: every token that was sent counts, none is lost or sent twice. Safe for concurrent use.
 */
public final class Handovers implements EndpointHandler<GenerateRequest, EngineOutput> {
  private static final System.Logger LOG = System.getLogger(Handovers.class.getName());
  private static final int MOVES_AT_ONCE = 4;
  private static final Duration MOVER_END = Duration.ofSeconds(2); // after its interruption

  private final EndpointHandler<GenerateRequest, EngineOutput> handler;
  private final LongSupplier nanoClock;
  private final Set<ForwardedStream> running =
      ConcurrentHashMap.newKeySet(); // as many as are admitted

  /**
   * @param nanoClock measures the pace of streams
   */
  public Handovers(EndpointHandler<GenerateRequest, EngineOutput> handler, LongSupplier nanoClock) {
    this.handler = handler;
    this.nanoClock = nanoClock;
  }

  @Override
  public Flow.Publisher<EngineOutput> handle(GenerateRequest request, RequestContext context) {
    var stream = handler.handle(request, context);
    return next -> stream.subscribe(new ForwardedStream(request, context, next));
  }

  /**
   * Ends the streams that may not finish within {@code patienceNanos} at their pace so far, and
   * that another worker can continue. Each ends in an error that lets its requester migrate, after
   * the items that were sent; its engine's stream is cancelled.
   *
   * @return how many streams were ended
   */
  public int handOver(long patienceNanos) {
    int ended = 0;
    for (var held : running) {
      if (held.mayOutlast(patienceNanos) && held.handOver()) {
        ended++;
      }
    }
    return ended;
  }

  /**
   * Ends streams as {@link #handOver(long)} does, each after its computed blocks have been moved;
   * several at a time. All of them end, whatever becomes of the moves, also when the caller is
   * interrupted.
   *
   * @param deadline ends the moves; then the rest is handed over without
   */
  public int handOver(long patienceNanos, BlockMover mover, Deadline deadline)
      throws InterruptedException {
    if (mover.equals(BlockMover.NONE)) {
      return handOver(patienceNanos);
    }
    var leaving = new ArrayList<ForwardedStream>();
    for (var held : running) {
      if (held.mayOutlast(patienceNanos)) {
        leaving.add(held);
      }
    }
    var waiting = new ConcurrentLinkedQueue<>(leaving);
    var ended = new AtomicInteger();
    var movers = new ArrayList<Thread>();
    for (int i = 0; i < Math.min(MOVES_AT_ONCE, leaving.size()); i++) {
      movers.add(
          Thread.ofVirtual()
              .name("drain-move-" + i)
              .start(() -> moveAll(waiting, mover, deadline, ended)));
    }
    try {
      join(movers, deadline);
    } finally {
      movers.forEach(Thread::interrupt); // of no effect on those that have ended
      for (var left : leaving) {
        if (left.handOver()) {
          ended.incrementAndGet();
        }
      }
      join(movers, Deadline.after(MOVER_END)); // afterwards the engine may be closed
    }
    return ended.get();
  }

  private static void join(List<Thread> movers, Deadline deadline) throws InterruptedException {
    for (var mover : movers) {
      var _ = mover.join(Duration.ofNanos(Math.max(0, deadline.remainingNanos())));
    }
  }

  private static void moveAll(
      Queue<ForwardedStream> waiting, BlockMover mover, Deadline deadline, AtomicInteger ended) {
    for (var next = waiting.poll(); next != null; next = waiting.poll()) {
      try {
        if (!deadline.isExpired()) {
          mover.move(next.request, next.context, deadline);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return; // the interrupter hands over the rest
      } catch (RuntimeException failure) {
        LOG.log(Level.WARNING, "a generation is handed over without its KV blocks", failure);
      }
      if (next.handOver()) {
        ended.incrementAndGet();
      }
    }
  }

  /** One stream; signals to its subscriber are sent under its lock. */
  private final class ForwardedStream implements Flow.Subscriber<EngineOutput>, Flow.Subscription {
    private final GenerateRequest request;
    private final RequestContext context;
    private final Flow.Subscriber<? super EngineOutput> next;
    private volatile Flow.@Nullable Subscription engine;
    private int sent; // tokens; guarded by this, like the next two
    private long firstNanos;
    private boolean finished; // the last item was sent
    private volatile boolean ended; // set under this, or by a requester's cancel

    ForwardedStream(
        GenerateRequest request,
        RequestContext context,
        Flow.Subscriber<? super EngineOutput> next) {
      this.request = request;
      this.context = context;
      this.next = next;
    }

    synchronized boolean mayOutlast(long patienceNanos) {
      if (finished || !request.mayMoveAfter(sent)) {
        return false;
      }
      var budget = request.stop().maxTokens();
      if (budget == null || sent < 2) { // its end or its pace is unknown
        return true;
      }
      double perToken = (double) (nanoClock.getAsLong() - firstNanos) / (sent - 1);
      return perToken * (budget - sent) > patienceNanos;
    }

    boolean handOver() {
      var from = engine;
      synchronized (this) {
        if (ended || finished || from == null) {
          return false;
        }
        ended = true;
        next.onError(TokenStream.shutDown());
      }
      running.remove(this);
      from.cancel();
      return true;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      engine = subscription;
      next.onSubscribe(this);
      running.add(this); // only now: it may be ended from here on
      if (ended) {
        running.remove(this);
      }
    }

    @Override
    public synchronized void onNext(EngineOutput item) {
      if (ended) {
        return;
      }
      int tokens = item.tokenIds().length;
      if (sent == 0 && tokens > 0) {
        firstNanos = nanoClock.getAsLong();
      }
      sent += tokens;
      finished = item.finishReason() != null;
      next.onNext(item);
    }

    @Override
    public void onError(Throwable cause) {
      running.remove(this);
      synchronized (this) {
        if (!ended) {
          ended = true;
          next.onError(cause);
        }
      }
    }

    @Override
    public void onComplete() {
      running.remove(this);
      synchronized (this) {
        if (!ended) {
          ended = true;
          next.onComplete();
        }
      }
    }

    @Override
    public void request(long count) {
      var from = engine;
      if (from != null) {
        from.request(count);
      }
    }

    @Override
    public void cancel() {
      ended = true;
      running.remove(this);
      var from = engine;
      if (from != null) {
        from.cancel();
      }
    }
  }
}
