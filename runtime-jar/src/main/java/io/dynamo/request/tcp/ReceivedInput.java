package io.dynamo.request.tcp;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.CallHomeClient;
import io.dynamo.pipeline.Handshake;
import io.dynamo.pipeline.InputListener;
import io.dynamo.pipeline.ReceivedStream;
import io.dynamo.pipeline.StreamLimits;
import io.dynamo.pipeline.StreamSignal;
import io.dynamo.request.BidirectionalHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ConnectionInfo;
import io.dynamo.wire.request.ControlMessage;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * A request whose items arrive one by one on a separate socket, which is dialled before the
 * answer's. Callbacks come on that socket's event loop; any thread may end it. Losing the input
 * socket ends the request.
 */
final class ReceivedInput<Q, R> implements Serving<R>, InputListener {
  private final BidirectionalHandler<Q, R> handler;
  private final MessageCodec<Q, R> codec;
  private final ControlMessage control;
  private final boolean hasBody;
  private final TcpSettings settings;
  private final ItemStream<Q> items;
  private final Object lock = new Object();
  private @Nullable ReceivedStream socket; // guarded by lock
  private boolean over; // guarded by lock: nothing more is read
  private @Nullable ServedRequest<?, R> request; // written once, before the socket is dialled
  private Runnable ready = () -> {}; // likewise
  private volatile EndpointMeters.Failure step = EndpointMeters.Failure.INVALID_MESSAGE;

  ReceivedInput(
      BidirectionalHandler<Q, R> handler,
      MessageCodec<Q, R> codec,
      ControlMessage control,
      byte[] body,
      TcpSettings settings) {
    this.handler = handler;
    this.codec = codec;
    this.control = control;
    this.hasBody = body.length > 0;
    this.settings = settings;
    items = new ItemStream<>(settings.streamBuffer(), this::resume, this::letGo);
  }

  @Override
  public void open(CallHomeClient callHome, ServedRequest<?, R> of, Runnable then) {
    request = of;
    ready = then;
    try {
      var home = home();
      callHome.dialInput(
          SocketAddresses.parse(home.address()),
          new Handshake(home.subject(), Handshake.REQUEST),
          new StreamLimits(
              settings.maxFrameBytes(),
              settings.timeouts().connect(),
              settings.timeouts().inactivity()),
          this);
    } catch (InvalidRequestException e) {
      lose(e);
      then.run();
    } catch (IllegalArgumentException e) {
      failed(e);
    }
  }

  private ConnectionInfo home() {
    var home = control.input();
    if (home == null || hasBody || !control.requestType().equals(ControlMessage.MANY_IN)) {
      throw new InvalidRequestException(
          "this endpoint takes a stream of requests (%s, no body, a connection for the input)"
              .formatted(ControlMessage.MANY_IN));
    }
    return home;
  }

  @Override
  public Flow.Publisher<R> begin(RequestContext context) {
    step = EndpointMeters.Failure.GENERATE;
    return handler.handle(items, context);
  }

  @Override
  public EndpointMeters.Failure step() {
    return step;
  }

  // InputListener, on the input socket's event loop

  @Override
  public void connected(ReceivedStream stream) {
    boolean late;
    synchronized (lock) {
      socket = stream;
      late = over;
    }
    if (late) {
      stream.close();
    }
    ready.run();
  }

  @Override
  public void failed(Throwable cause) {
    step = EndpointMeters.Failure.RESPONSE_STREAM; // counted like a failed call home for the answer
    lose(
        new WorkerLostException(
            ErrorCode.CANNOT_CONNECT,
            "cannot reach the input of request " + control.id() + ": " + cause.getMessage(),
            cause));
    ready.run();
  }

  @Override
  public boolean item(ByteBuf body) {
    var bytes = new byte[body.readableBytes()];
    body.readBytes(bytes);
    Q item;
    try {
      item = codec.decodeRequest(ByteBuffer.wrap(bytes), control.format());
    } catch (DynamoException e) {
      letGo();
      lose(e);
      return true;
    }
    return items.offer(item);
  }

  @Override
  public void sentinel() {
    items.complete();
  }

  @Override
  public void signalled(StreamSignal signal) {
    if (signal == StreamSignal.STOP) {
      if (request != null) {
        request.stopFromInput();
      }
      items.complete();
    } else {
      lose(new CancelledException("request " + control.id() + " was cancelled"));
    }
  }

  @Override
  public void broken(@Nullable Throwable cause) {
    lose(
        new InvalidRequestException(
            "the input of request %s was cut before its sentinel: %s"
                .formatted(control.id(), cause == null ? "closed" : cause.getMessage())));
  }

  private void lose(DynamoException cause) {
    items.abort(cause);
    if (request != null) {
      request.shutDown(cause);
    }
  }

  private void resume() {
    var from = socket();
    if (from != null) {
      from.resume();
    }
  }

  /** Closes the input socket, so that nothing more is read. */
  private void letGo() {
    ReceivedStream open;
    synchronized (lock) {
      over = true;
      open = socket;
    }
    if (open != null) {
      open.close();
    }
  }

  private @Nullable ReceivedStream socket() {
    synchronized (lock) {
      return socket;
    }
  }

  @Override
  public void end() {
    letGo();
    items.abort(new CancelledException("request " + control.id() + " is over"));
  }
}
