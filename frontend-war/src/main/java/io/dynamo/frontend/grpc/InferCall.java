package io.dynamo.frontend.grpc;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.kserve.InferCalls;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One call for inferences. Its requests are answered one after the other: the next one is read when
 * the answer to the last is complete, so that a client that does not read sends no more either.
 * gRPC calls the listener on one thread at a time, the request's own thread gives the answers.
 */
final class InferCall extends ServerCall.Listener<byte[]> {
  private final InferCalls calls;
  private final CallMetadata metadata;
  private final CallOutput output;
  private final Arrival arrival;
  private final InferHandler.Patience patience;
  private final ScheduledExecutorService timer;
  private final boolean streamed;

  private byte @Nullable [] unary; // the request of a call that has one; listener only
  private @Nullable Cancellation running; // guarded by this
  private boolean answering; // guarded by this
  private boolean halfClosed; // guarded by this
  private boolean cancelled; // guarded by this
  private @Nullable Future<?> alarm; // guarded by this

  InferCall(
      InferCalls calls,
      CallMetadata metadata,
      CallOutput output,
      Arrival arrival,
      InferHandler.Patience patience,
      ScheduledExecutorService timer,
      boolean streamed) {
    this.calls = calls;
    this.metadata = metadata;
    this.output = output;
    this.arrival = arrival;
    this.patience = patience;
    this.timer = timer;
    this.streamed = streamed;
  }

  /** Lets the first request in. */
  void begin() {
    setAlarm(streamed ? patience.idle() : patience.upload());
    arrival.listen(output::fail, () -> setAlarm(patience.upload()));
    output.request();
    if (!streamed) {
      output.request(); // a second message, which is an error, or the end
    }
  }

  /** Ends the call after a time in which no request became whole. */
  private synchronized void setAlarm(Duration after) {
    clearAlarm();
    if (!answering && !cancelled) {
      alarm = timer.schedule(() -> tooSlow(after), after.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private synchronized void clearAlarm() {
    if (alarm != null) {
      alarm.cancel(false);
      alarm = null;
    }
  }

  private void tooSlow(Duration waited) {
    synchronized (this) {
      if (answering) {
        return;
      }
    }
    output.close(
        Status.DEADLINE_EXCEEDED.withDescription(
            "no whole request came within %d ms; send it faster, or end the call"
                .formatted(waited.toMillis())),
        new Metadata());
  }

  @Override
  public void onMessage(byte[] message) {
    if (streamed) {
      start(message);
    } else if (unary == null) {
      unary = message;
    } else {
      output.fail(ApiError.of(400, "a call of ModelInfer has one request, and this one has more"));
    }
  }

  @Override
  public void onHalfClose() {
    var message = unary;
    unary = null;
    if (streamed) {
      boolean idle;
      synchronized (this) {
        halfClosed = true;
        idle = !answering;
      }
      if (idle) {
        clearAlarm();
        output.complete();
      }
    } else if (message == null) {
      output.fail(ApiError.of(400, "a call of ModelInfer has one request, and this one has none"));
    } else {
      start(message);
    }
  }

  private void start(byte[] message) {
    synchronized (this) {
      if (cancelled || output.isOver()) {
        return;
      }
      answering = true;
      clearAlarm();
    }
    try {
      var cancellation =
          calls.start(message, arrival::taken, metadata.caller(), streamed, new Answer());
      boolean late;
      synchronized (this) {
        late = cancelled;
        running = cancellation;
      }
      if (late) {
        cancellation.kill();
      }
    } catch (ApiException refused) {
      output.fail(refused.error());
    } catch (RuntimeException | Error e) {
      output.fail(ApiError.of(e));
      throw e;
    }
  }

  private final class Answer implements InferCalls.Answer {
    @Override
    public void message(byte[] message) {
      output.send(message);
    }

    @Override
    public void done() {
      arrival.taken(); // also of a message that nobody read
      boolean last;
      synchronized (InferCall.this) {
        answering = false;
        last = !streamed || halfClosed;
      }
      if (last) {
        output.complete();
      } else {
        setAlarm(patience.idle());
        output.request();
      }
    }

    @Override
    public void failed(ApiError error) {
      synchronized (InferCall.this) {
        answering = false;
      }
      output.refuse(error);
    }
  }

  @Override
  public void onCancel() {
    Cancellation current;
    synchronized (this) {
      cancelled = true;
      current = running;
      clearAlarm();
    }
    output.wake();
    if (current != null) {
      current.kill();
    }
  }

  @Override
  public void onComplete() {
    boolean cut;
    synchronized (this) {
      cut = answering; // by a refusal or a limit, while its request runs
    }
    if (cut) {
      onCancel();
    }
  }

  @Override
  public void onReady() {
    output.wake();
  }
}
