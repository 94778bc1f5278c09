package io.dynamo.request.tcp;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.CallHomeServer;
import io.dynamo.pipeline.Handshake;
import io.dynamo.pipeline.ReceivedStream;
import io.dynamo.pipeline.StreamListener;
import io.dynamo.pipeline.StreamSignal;
import io.dynamo.request.RequestContext;
import io.dynamo.request.tcp.silence.SilenceRules;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ConnectionInfo;
import io.dynamo.wire.request.Prologue;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer: sent when subscribed to, acknowledged on a pooled connection,
 * answered on a call-home stream of its own. Events come from three event loops, the subscriber and
 * cancelling threads; the first end counts.
 */
final class TcpCall<Q, R> implements Flow.Publisher<R>, StreamListener, RequestConnection.Outcome {
  private final TcpEndpointClient client;
  private final Instance instance;
  private final RequestInput requestInput;
  private final RequestContext context;
  private final ItemStream<R> answer;
  private final AnswerReader<R> reader;
  private final CallSilence silence;
  private final AtomicBoolean started = new AtomicBoolean();
  private final Object lock = new Object();
  private final List<Runnable> releases = new ArrayList<>(); // guarded by lock
  private @Nullable ReceivedStream stream; // guarded by lock
  private @Nullable StreamSignal unsentSignal; // guarded by lock: sent when the worker calls home
  private boolean ended; // guarded by lock
  private volatile boolean calledHome;
  private volatile boolean accepted; // the prologue has arrived
  private long begunNanos;
  private long sentNanos;
  private boolean firstItem = true; // by the stream's event loop only

  TcpCall(
      TcpEndpointClient client,
      Instance instance,
      RequestInput requestInput,
      MessageCodec<Q, R> codec,
      RequestContext context,
      SilenceRules rules) {
    this.client = client;
    this.instance = instance;
    this.requestInput = requestInput;
    this.context = context;
    answer = new ItemStream<>(client.settings.streamBuffer(), this::resume, this::abandon);
    silence = client.silence.silence(instance, rules);
    reader = new AnswerReader<>(codec, instance.format(), answer, this::fail);
  }

  Instance instance() {
    return instance;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super R> subscriber) {
    answer.subscribe(subscriber);
    if (started.compareAndSet(false, true) && !answer.isCancelled()) {
      start();
    }
  }

  private void start() {
    begunNanos = System.nanoTime();
    client.opened(this);
    try {
      follow(context.cancellation());
      send();
    } catch (DynamoException e) {
      fail(e);
    } catch (RuntimeException e) {
      fail(new EngineFailedException(ErrorCode.UNKNOWN, "the request cannot be sent: " + e, e));
    }
  }

  private void follow(Cancellation cancellation) {
    var following = cancellation.onCancel(this::cancelled);
    release(following::close);
    after(
        Math.max(0, context.deadline().remainingNanos()),
        () ->
            failTelling(
                new DeadlineExceededException(
                    "request %s did not end by its deadline".formatted(context.id()))));
  }

  private void after(long nanos, Runnable task) {
    var timer = client.loops.next().schedule(task, nanos, TimeUnit.NANOSECONDS);
    release(() -> timer.cancel(false));
  }

  private void send() {
    var subject = UUID.randomUUID().toString();
    release(requestInput::close);
    var input = requestInput.open(client.callHome, client.callHomeAddress, this);
    var outgoing =
        OutgoingRequest.of(
            instance,
            context,
            new ConnectionInfo(client.callHomeAddress, subject, context.id(), Handshake.RESPONSE),
            input,
            requestInput.body(instance.format()));
    outgoing.check(client.settings.maxFrameBytes());
    if (!(outgoing.to() instanceof TransportAddress.Http2)) {
      CallHomeServer.Registration expected = client.callHome.expect(subject, this);
      release(expected::close);
    }
    sentNanos = System.nanoTime();
    client.meters.queue().record(sentNanos - begunNanos);
    if (!hasEnded()) {
      client.send(outgoing, this, this);
    }
  }

  // RequestConnection.Outcome, on the request connection's event loop

  @Override
  public void acknowledged() {
    client.meters.send().record(System.nanoTime() - sentNanos);
    silence.acknowledged();
  }

  /**
   * Fails the call. Ignored once the worker has called home: the answer comes on a separate
   * connection.
   */
  @Override
  public void failed(DynamoException cause) {
    if (!calledHome) {
      fail(cause);
    }
  }

  // StreamListener, on the call-home connection's event loop

  @Override
  public void connected(ReceivedStream connected) {
    StreamSignal owed;
    boolean late;
    calledHome = true;
    synchronized (lock) {
      stream = connected;
      owed = unsentSignal;
      late = ended;
    }
    if (owed != null) {
      connected.signal(owed);
    }
    if (late) {
      connected.close();
      return;
    }
    silence.calledHome(connected);
  }

  @Override
  public void prologue(byte[] json) {
    try {
      var refusal = Prologue.ofJson(json).failure();
      if (refusal == null) {
        accepted = true;
        noteBeginning();
      } else {
        fail(refusal);
      }
    } catch (InvalidRequestException e) {
      failTelling(nonsense(e));
    }
  }

  private void noteBeginning() {
    if (accepted && requestInput.calledFor()) {
      silence.recordAnswerStart();
    }
  }

  @Override
  public boolean item(ByteBuf body) {
    if (firstItem) {
      firstItem = false;
      client.meters.firstItem().record(System.nanoTime() - sentNanos);
    }
    try {
      return reader.read(body);
    } catch (RuntimeException e) {
      failTelling(nonsense(e));
      return true;
    }
  }

  private DynamoException nonsense(RuntimeException cause) {
    return new EngineFailedException(
        ErrorCode.UNKNOWN,
        "instance %s sent what is no answer: %s".formatted(instance.id(), cause.getMessage()),
        cause);
  }

  @Override
  public void sentinel() {
    broken(null);
  }

  @Override
  public void broken(@Nullable Throwable cause) {
    if (reader.isEndMarked()) {
      if (end()) {
        answer.complete();
      }
    } else if (context.cancellation().isCancelled()) {
      fail(stopped());
    } else {
      fail(
          new WorkerLostException(
              ErrorCode.DISCONNECTED,
              "instance %s ended its stream before generation completed".formatted(instance.id()),
              cause));
    }
  }

  // silence checks, on the watch's event loop

  CallSilence silence() {
    return silence;
  }

  void look(long elapsedNanos) {
    noteBeginning(); // the worker may have called for the request's input meanwhile
    silence.look(elapsedNanos);
  }

  /** Ends the call if its worker is lost, and returns the reason; null when it is not. */
  @Nullable DynamoException judge() {
    var lost = silence.judge(instance, client.callHomeAddress);
    if (lost != null) {
      failTelling(context.cancellation().isCancelled() ? stopped() : lost);
    }
    return lost;
  }

  private CancelledException stopped() {
    return new CancelledException("request %s was cancelled".formatted(context.id()));
  }

  private void resume() {
    ReceivedStream from;
    synchronized (lock) {
      from = stream;
    }
    if (from != null) {
      from.resume();
    }
  }

  // ending the call

  private void cancelled(Cancellation.Level level) {
    switch (level) {
      case NONE -> {}
      case STOP -> {
        requestInput.stop();
        sendSignal(StreamSignal.STOP);
      }
      case KILL -> {
        if (giveUp()) {
          answer.abort(stopped());
        }
      }
    }
  }

  /** Ends the call because the subscriber has cancelled. */
  private void abandon() {
    giveUp();
  }

  void failUnlessCalledHome(DynamoException cause) {
    if (!calledHome) {
      failTelling(cause);
    }
  }

  void failTelling(DynamoException cause) {
    if (giveUp()) {
      answer.fail(cause);
    }
  }

  void fail(DynamoException cause) {
    if (end()) {
      answer.fail(cause);
    }
  }

  /**
   * Ends the call before the worker receives the kill: its answer to that must not pass for the
   * end.
   */
  private boolean giveUp() {
    return end(StreamSignal.KILL);
  }

  private void sendSignal(StreamSignal signal) {
    ReceivedStream to;
    synchronized (lock) {
      if (ended) {
        return;
      }
      unsentSignal = signal;
      to = stream;
    }
    if (to != null) {
      to.signal(signal);
    }
  }

  private boolean hasEnded() {
    synchronized (lock) {
      return ended;
    }
  }

  private boolean end() {
    return end(null);
  }

  /**
   * Releases the call's resources; returns true for the first end only.
   *
   * @param last the signal sent to the worker, now or when it calls home
   */
  private boolean end(@Nullable StreamSignal last) {
    List<Runnable> owed;
    ReceivedStream open;
    synchronized (lock) {
      if (ended) {
        return false;
      }
      ended = true;
      if (last != null) {
        unsentSignal = last;
      }
      owed = List.copyOf(releases);
      releases.clear();
      open = stream;
    }
    owed.forEach(Runnable::run);
    if (open != null) {
      if (last != null) {
        open.signal(last);
      }
      open.close();
    }
    client.ended(this);
    return true;
  }

  private void release(Runnable atEnd) {
    synchronized (lock) {
      if (!ended) {
        releases.add(atEnd);
        return;
      }
    }
    atEnd.run();
  }
}
