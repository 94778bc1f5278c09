package io.dynamo.request.tcp;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.FailureShape;
import io.dynamo.pipeline.CallHomeClient;
import io.dynamo.pipeline.CallHomeListener;
import io.dynamo.pipeline.SentStream;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ControlMessage;
import io.dynamo.wire.request.DynamoError;
import io.dynamo.wire.request.Prologue;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One request being served: dials home, waits for its turn, starts the handler and streams its
 * items. It dials first so that a requester can give up while its request still waits. Signals
 * arrive on the stream's event loop, items on the handler's threads; the first end counts. As many
 * items are requested from the handler as the socket has taken, so a slow requester holds the
 * engine back.
 */
final class ServedRequest<Q, R> implements CallHomeListener, Flow.Subscriber<R> {
  private static final System.Logger LOG = System.getLogger(ServedRequest.class.getName());

  /**
   * The deadline of every served request. Deadlines do not travel on the wire: the requester ends
   * requests that take too long.
   */
  private static final Duration LONGEST = Duration.ofDays(1);

  private final TcpEndpoint<Q, R> endpoint;
  private final Serving<R> serving;
  private final AnswerWriter<R> answer; // by the handler's threads only
  private final ItemForm form;
  private final ControlMessage control;
  private final Map<String, String> headers;
  private final Admission.Ticket ticket;
  private final Cancellation cancellation = new Cancellation();
  private final AtomicBoolean left = new AtomicBoolean(); // the admission place is given up
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicBoolean givenUp = new AtomicBoolean(); // whether the requester has given up
  private final AtomicBoolean unpublished = new AtomicBoolean(); // an item was dropped after that
  private final long begunNanos = System.nanoTime();
  private final int window; // items requested from the handler ahead of the socket
  private boolean begun; // by the event loop only: the handler was called, or never will be
  private int written; // since the last request for more; used by the event loop only
  private final Object lock = new Object();
  private boolean announced; // guarded by lock: the prologue has been sent
  private @Nullable DynamoException parting; // guarded by lock: sent instead of the prologue
  private volatile @Nullable SentStream stream;
  private volatile Flow.@Nullable Subscription subscription;

  ServedRequest(
      TcpEndpoint<Q, R> endpoint,
      Serving<R> serving,
      MessageCodec<Q, R> codec,
      ControlMessage control,
      Map<String, String> headers,
      Admission.Ticket ticket,
      TcpSettings settings) {
    this.ticket = ticket;
    this.endpoint = endpoint;
    this.serving = serving;
    answer = new AnswerWriter<>(codec, control.format(), settings.maxFrameBytes());
    form = codec.itemForm();
    window = settings.streamBuffer();
    this.control = control;
    this.headers = headers;
  }

  /**
   * Opens the input, then the answer stream.
   *
   * @param route opens the answer stream for a listener
   */
  void start(CallHomeClient callHome, Consumer<CallHomeListener> route) {
    serving.open(callHome, this, () -> route.accept(this));
  }

  long ageNanos() {
    return System.nanoTime() - begunNanos;
  }

  // CallHomeListener, on the stream's event loop

  @Override
  public void connected(SentStream connected) {
    boolean late;
    stream = connected;
    synchronized (lock) {
      late = parting != null;
    }
    if (late) {
      begin(connected);
    } else {
      ticket.whenTurn(() -> connected.execute(() -> begin(connected)));
    }
  }

  private void begin(SentStream connected) {
    if (begun || ended.get()) {
      return;
    }
    begun = true;
    Flow.Publisher<R> items;
    try {
      checkOpen();
      items = serving.begin(context());
      announce(connected);
    } catch (RuntimeException | Error e) { // any failure must free the request's place
      if (!(e instanceof DynamoException)) {
        LOG.log(
            System.Logger.Level.WARNING,
            "handler of " + endpoint.address() + " failed",
            FailureShape.of(e));
      }
      endpoint.meters.failed(serving.step());
      refuse(connected, e);
      return;
    }
    try {
      items.subscribe(this);
    } catch (RuntimeException | Error e) {
      cancelSubscription();
      onError(e);
    }
  }

  private void checkOpen() {
    synchronized (lock) {
      if (parting != null) {
        throw parting;
      }
    }
  }

  /**
   * Queues the accepting prologue on the event loop while holding the lock, so that the error item
   * of {@link #shutDown} cannot overtake it.
   */
  private void announce(SentStream to) {
    synchronized (lock) {
      if (parting != null) {
        throw parting;
      }
      announced = true;
      to.sendHeader(Prologue.accepted());
      endpoint.meters.prologueSent(ageNanos());
    }
  }

  private RequestContext context() {
    return new RequestContext(
        control.id(), control.metadata(), headers, Deadline.after(LONGEST), cancellation);
  }

  /**
   * Sends a refusal. If {@link #shutDown} has set an error, that error is sent, since it made the
   * handler fail.
   */
  private void refuse(SentStream to, Throwable cause) {
    Throwable reason;
    synchronized (lock) {
      reason = parting == null ? cause : parting;
    }
    if (ended.compareAndSet(false, true)) {
      to.finish(
          AnswerEnd.refusal(to, reason, form, control.format(), endpoint.meters::recordSentBytes),
          () -> endpoint.ended(this));
    }
  }

  @Override
  public void failed(Throwable cause) {
    LOG.log(
        System.Logger.Level.WARNING,
        "cannot deliver the answer of request {0} to {1}: {2}",
        control.id(),
        control.connection().address(),
        cause);
    endpoint.meters.failed(EndpointMeters.Failure.RESPONSE_STREAM);
    ended.set(true);
    endpoint.ended(this);
  }

  @Override
  public void stop() {
    givenUp();
    cancellation.stop();
    var to = stream;
    if (!begun && to != null) { // no item has been produced that could still count
      begun = true;
      refuse(to, new CancelledException("request " + control.id() + " was cancelled in the queue"));
    }
  }

  /** Handles a stop that arrived on the input socket; callable from any thread. */
  void stopFromInput() {
    cancellation.stop();
    var to = stream;
    if (to != null) {
      to.execute(this::stop);
    }
  }

  @Override
  public void stalled() {
    endpoint.meters.failed(EndpointMeters.Failure.PUBLISH_RESPONSE);
    LOG.log(
        System.Logger.Level.WARNING,
        "requester {0} takes nothing of the answer to request {1}: given up",
        control.connection().address(),
        control.id());
  }

  @Override
  public void kill() {
    givenUp();
    cancellation.kill();
    if (ended.compareAndSet(false, true)) {
      cancelSubscription();
    }
  }

  private void givenUp() {
    if (!ended.get() && givenUp.compareAndSet(false, true)) {
      endpoint.meters.cancelled();
    }
  }

  @Override
  public void closed() {
    endpoint.ended(this);
  }

  /** Frees the place for the next request; returns false when it was already freed. */
  boolean leave() {
    boolean first = left.compareAndSet(false, true);
    if (first) {
      try {
        serving.end();
      } finally {
        ticket.leave(); // last, because it runs the turn of another request
      }
    }
    return first;
  }

  private void cancelSubscription() {
    var from = subscription;
    if (from != null) {
      try {
        from.cancel();
      } catch (RuntimeException | Error e) { // the request ends all the same, by what follows
        LOG.log(
            System.Logger.Level.WARNING,
            "the answer to request " + control.id() + " cannot be cancelled",
            FailureShape.of(e));
      }
    }
  }

  // Subscriber to the answer, on the handler's threads

  @Override
  public void onSubscribe(Flow.Subscription from) {
    subscription = from;
    if (ended.get()) {
      from.cancel();
    } else {
      from.request(window);
    }
  }

  @Override
  public void onNext(R item) {
    var to = stream;
    if (to == null || ended.get()) {
      if (givenUp.get() && unpublished.compareAndSet(false, true)) {
        endpoint.meters.failed(EndpointMeters.Failure.PUBLISH_RESPONSE);
      }
      return;
    }
    try {
      endpoint.meters.recordSentBytes(answer.send(item, to));
    } catch (RuntimeException | Error e) {
      endpoint.meters.failed(EndpointMeters.Failure.SERIALIZATION);
      cancelSubscription();
      finish(e);
    }
  }

  /** Requests more items once over half of the window is written: one call for many items. */
  @Override
  public void written(int items) {
    written += items;
    var from = subscription;
    if (from != null && written > window / 2) {
      int more = written;
      written = 0;
      from.request(more);
    }
  }

  @Override
  public void onComplete() {
    finish(null);
  }

  @Override
  public void onError(Throwable cause) {
    if (!ended.get() && !givenUp.get()) {
      endpoint.meters.failed(EndpointMeters.Failure.GENERATE);
    }
    finish(cause);
  }

  /**
   * Prevents the handler from being called, because the request is being ended.
   *
   * @return whether the prologue has been sent, so that it is too late to prevent it
   */
  boolean forbid(DynamoException cause) {
    synchronized (lock) {
      if (!announced) {
        parting = cause; // sent in place of the prologue
      }
      return announced;
    }
  }

  /** Ends the request with a typed error. */
  void shutDown(DynamoException cause) {
    if (forbid(cause)) {
      cancelSubscription();
      finish(cause);
    } else {
      var to = stream;
      if (to != null) {
        to.execute(() -> begin(to)); // the request may still be waiting for its turn
      }
    }
    cancellation.kill();
  }

  private void finish(@Nullable Throwable cause) {
    var to = stream;
    if (to == null || !ended.compareAndSet(false, true)) {
      return;
    }
    boolean isKilled = cancellation.level() == Cancellation.Level.KILL;
    if (cause != null && (isKilled || form == ItemForm.PLAIN)) { // no room for an error
      if (!isKilled) {
        logFailure(cause);
      }
      to.abort();
      return;
    }
    to.finish(lastFrames(to, cause), () -> endpoint.ended(this));
  }

  private ByteBuf lastFrames(SentStream to, @Nullable Throwable cause) {
    if (cause == null) {
      return AnswerEnd.mark(to, control.format(), endpoint.meters::recordSentBytes);
    }
    if (DynamoError.of(cause).code() == ErrorCode.BACKEND_UNKNOWN) {
      logFailure(cause);
    }
    return AnswerEnd.error(to, cause, control.format(), endpoint.meters::recordSentBytes);
  }

  private void logFailure(Throwable cause) {
    LOG.log(
        System.Logger.Level.WARNING, "request " + control.id() + " failed", FailureShape.of(cause));
  }
}
