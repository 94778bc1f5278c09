package io.dynamo.request.tcp;

import io.dynamo.config.plane.TcpSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.CallHomeServer;
import io.dynamo.pipeline.Handshake;
import io.dynamo.pipeline.InputSource;
import io.dynamo.pipeline.SentInput;
import io.dynamo.pipeline.StreamSignal;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ConnectionInfo;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * A request whose items are sent one by one, on the socket that the worker dials for them. As many
 * items are requested from the caller as the socket has taken, so a worker that does not read holds
 * the caller back. The first end counts, from whichever side.
 */
final class SentItems<Q> implements RequestInput, InputSource, Flow.Subscriber<Q> {
  private static final byte[] NONE = {};

  private final Flow.Publisher<Q> requests;
  private final MessageCodec<Q, ?> codec;
  private final PayloadFormat format;
  private final TcpSettings settings;
  private final String id;
  private final Object lock = new Object();
  private CallHomeServer.@Nullable Registration expected; // guarded by lock
  private @Nullable SentInput input; // guarded by lock
  private Flow.@Nullable Subscription subscription; // guarded by lock
  private boolean over; // guarded by lock
  private volatile @Nullable TcpCall<?, ?> call;
  private int written; // since the last request for more; by the event loop only

  SentItems(
      Flow.Publisher<Q> requests,
      MessageCodec<Q, ?> codec,
      PayloadFormat format,
      TcpSettings settings,
      String id) {
    this.requests = requests;
    this.codec = codec;
    this.format = format;
    this.settings = settings;
    this.id = id;
  }

  @Override
  public byte[] body(PayloadFormat unused) {
    return NONE;
  }

  @Override
  public ConnectionInfo open(CallHomeServer callHome, String address, TcpCall<?, ?> of) {
    call = of;
    var subject = UUID.randomUUID().toString();
    var registration = callHome.expectInput(subject, this);
    boolean late;
    synchronized (lock) {
      expected = registration;
      late = over;
    }
    if (late) {
      registration.close();
    }
    return new ConnectionInfo(address, subject, id, Handshake.REQUEST);
  }

  @Override
  public boolean calledFor() {
    synchronized (lock) {
      return input != null;
    }
  }

  // InputSource, on the input socket's event loop

  @Override
  public void connected(SentInput connected) {
    boolean late;
    synchronized (lock) {
      input = connected;
      late = over;
    }
    if (late) {
      connected.signal(StreamSignal.KILL);
    } else {
      requests.subscribe(this);
    }
  }

  /**
   * Stops the input without failing the call: the worker may not need more input and still answer.
   */
  @Override
  public void closed() {
    finish(null);
  }

  @Override
  public void written(int items) {
    written += items;
    if (written > settings.streamBuffer() / 2) {
      int more = written;
      written = 0;
      Flow.Subscription from;
      synchronized (lock) {
        from = over ? null : subscription;
      }
      if (from != null) {
        from.request(more);
      }
    }
  }

  // Subscriber to the items, on the caller's threads

  @Override
  public void onSubscribe(Flow.Subscription from) {
    boolean refused;
    synchronized (lock) {
      refused = over || subscription != null;
      if (!refused) {
        subscription = from;
      }
    }
    if (refused) {
      from.cancel();
    } else {
      from.request(settings.streamBuffer());
    }
  }

  @Override
  public void onNext(Q item) {
    SentInput to;
    synchronized (lock) {
      to = over ? null : input;
    }
    if (to == null) {
      return;
    }
    byte[] bytes;
    try {
      bytes = codec.encodeRequest(item, format);
      checkSize(bytes.length);
    } catch (RuntimeException e) {
      fail(e);
      return;
    }
    to.send(ByteBuffer.wrap(bytes));
  }

  private void checkSize(int bytes) {
    if (bytes > settings.maxFrameBytes()) {
      throw new InvalidRequestException(
          "request item of %d bytes exceeds dynamo.request.tcp.max-frame of %d bytes; raise it on both sides"
              .formatted(bytes, settings.maxFrameBytes()));
    }
  }

  @Override
  public void onError(Throwable cause) {
    fail(cause);
  }

  @Override
  public void onComplete() {
    SentInput to;
    synchronized (lock) {
      to = over ? null : input;
      over = true;
    }
    if (to != null) {
      to.finish();
    }
  }

  /**
   * Fails the call before the kill is sent: the worker's answer to the kill must not pass for the
   * reason.
   */
  private void fail(Throwable cause) {
    var of = call;
    if (of != null) {
      of.failTelling(
          cause instanceof DynamoException known
              ? known
              : new InvalidRequestException("the input of request " + id + " failed: " + cause));
    }
    finish(StreamSignal.KILL);
  }

  @Override
  public void stop() {
    finish(StreamSignal.STOP);
  }

  @Override
  public void close() {
    finish(StreamSignal.KILL);
    SentInput to;
    CallHomeServer.Registration waiting;
    synchronized (lock) {
      to = input;
      waiting = expected;
    }
    if (waiting != null) {
      waiting.close();
    }
    if (to != null) {
      to.signal(StreamSignal.KILL); // also discards items that are still unsent
    }
  }

  private void finish(@Nullable StreamSignal signal) {
    SentInput to;
    Flow.Subscription from;
    synchronized (lock) {
      if (over) {
        return;
      }
      over = true;
      to = input;
      from = subscription;
    }
    if (from != null) {
      from.cancel();
    }
    if (to != null && signal != null) {
      to.signal(signal);
    }
  }
}
