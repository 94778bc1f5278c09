package io.dynamo.frontend.dispatch;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Migratable;
import io.dynamo.error.NoWorkerException;
import io.dynamo.frontend.sse.Inbox;
import io.dynamo.frontend.sse.WakeSignal;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteDecision;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The answer of the first worker that gives an item. For one thread; cancellation, deadline and the
 * worker's stream have threads of their own.
 */
final class RetriedAnswer<A> implements AnswerItems<A> {
  private static final int CAPACITY = 2; // an item may be as large as a frame of the plane

  /** The workers that may be asked. */
  interface Workers<A> {
    /**
     * Chooses a worker.
     *
     * @param failed those that were asked
     * @throws DynamoException when there is none
     */
    RouteDecision choose(Set<InstanceId> failed);

    /** Asks a worker once the answer is subscribed to. */
    Flow.Publisher<A> ask(RouteDecision chosen);

    /**
     * Notes that a worker was lost, or was too busy.
     *
     * @param failures so far
     * @return whether another may be asked
     */
    boolean lost(RouteDecision chosen, Migratable loss, int failures);
  }

  private final Workers<A> workers;
  private final Consumer<A> check;
  private final WakeSignal signal;
  private final Cancellation.Registration cancellation;
  private final Future<?> deadline;
  private final Set<InstanceId> failed = new HashSet<>();
  private volatile @Nullable DynamoException abort; // written before the inbox is looked at
  private volatile @Nullable Inbox<A> inbox; // of the present worker
  private @Nullable RouteDecision decision; // of the present worker
  private @Nullable A first;
  private @Nullable DynamoException failure; // instead of a first item
  private boolean begun; // the first item or the failure is there
  private boolean closed;

  /**
   * @param check refuses items
   * @param timer for tasks that never wait
   */
  RetriedAnswer(
      Workers<A> workers,
      RequestContext context,
      Consumer<A> check,
      ScheduledExecutorService timer) {
    this.workers = workers;
    this.check = check;
    signal = new WakeSignal(timer);
    cancellation =
        context
            .cancellation()
            .onCancel(
                level -> {
                  if (level == Cancellation.Level.KILL) {
                    abort(new CancelledException("the client left"));
                  }
                });
    deadline =
        timer.schedule(
            () -> abort(new DeadlineExceededException("the request's deadline has passed")),
            Math.max(0, context.deadline().remainingNanos()),
            TimeUnit.NANOSECONDS);
  }

  @Override
  public void abort(DynamoException cause) {
    abort = cause;
    var present = inbox;
    if (present != null) {
      present.abort(cause);
    }
  }

  /**
   * Asks the next worker.
   *
   * @throws DynamoException when there is none
   */
  void start() {
    var chosen = workers.choose(failed);
    decision = chosen;
    var next = new Inbox<A>(CAPACITY, signal);
    inbox = next;
    var cause = abort;
    if (cause != null) { // raised while there was no inbox
      next.abort(cause);
      return;
    }
    workers.ask(chosen).subscribe(next);
  }

  private Inbox<A> inbox() {
    var present = inbox;
    if (present == null) {
      throw new IllegalStateException("no worker was asked");
    }
    return present;
  }

  /** Takes what the present worker gave, and asks the next one when it was lost. */
  private void begin() {
    while (!begun && inbox().isReady()) {
      try {
        first = checked(inbox().poll());
        if (first == null && inbox().ended()) {
          failure =
              new EngineFailedException(
                  ErrorCode.BACKEND_UNKNOWN, "the worker ended without an answer", null);
        }
        begun = first != null || failure != null;
      } catch (DynamoException cause) {
        failure = retry(cause);
        begun = failure != null;
      }
    }
  }

  /** Asks another worker; returns the failure of the answer where there is none to ask. */
  private @Nullable DynamoException retry(DynamoException cause) {
    var asked = decision;
    if (!(cause instanceof Migratable loss) || asked == null) {
      return cause;
    }
    failed.add(asked.instance().id());
    asked.close();
    decision = null;
    if (!workers.lost(asked, loss, failed.size()) || abort != null) {
      return cause;
    }
    try {
      start();
      return null;
    } catch (NoWorkerException none) {
      return cause;
    } catch (DynamoException refusal) {
      return refusal;
    }
  }

  @Override
  public void awaitFirst() throws InterruptedException {
    while (!begun) {
      awaitFirst(Long.MAX_VALUE / 4); // the deadline ends it
    }
    awaitFirst(0);
  }

  @Override
  public void awaitFirst(long nanos) throws InterruptedException {
    if (await(nanos) && failure != null) {
      throw failure;
    }
  }

  @Override
  public @Nullable A poll() {
    begin();
    if (failure != null) {
      throw failure;
    }
    var item = first;
    if (item != null) {
      first = null;
      return item;
    }
    return begun ? checked(inbox().poll()) : null;
  }

  private @Nullable A checked(@Nullable A item) {
    if (item != null) {
      check.accept(item);
    }
    return item;
  }

  @Override
  public boolean ended() {
    return begun && first == null && failure == null && inbox().ended();
  }

  @Override
  public boolean await(long nanos) throws InterruptedException {
    long until = System.nanoTime() + nanos;
    begin();
    while (!begun) {
      if (!inbox().await(Math.max(0, until - System.nanoTime()))) {
        return false;
      }
      begin();
    }
    return first != null
        || failure != null
        || inbox().await(Math.max(0, until - System.nanoTime()));
  }

  @Override
  public void leave() {
    first = null;
    inbox().leave();
  }

  @Override
  public void cancel() {
    inbox().cancel();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    deadline.cancel(false);
    cancellation.close();
    signal.close();
    var present = inbox;
    if (present != null) {
      present.cancel();
    }
    var booked = decision;
    if (booked != null) {
      booked.close();
    }
  }
}
