package io.dynamo.request.tcp;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.CallHomeListener;
import io.dynamo.pipeline.Handshake;
import io.dynamo.pipeline.SentStream;
import io.dynamo.pipeline.TwoPartFrame;
import io.dynamo.pipeline.http2.Http2Exchange;
import io.dynamo.request.EndpointServer;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ControlMessage;
import io.dynamo.wire.request.Prologue;
import io.dynamo.wire.request.RequestHeaders;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One endpoint behind the listener, with the requests that it is serving. Safe for concurrent use.
 */
final class TcpEndpoint<Q, R> implements EndpointServer.Served {
  /** Creates the {@link Serving} of each request of the endpoint. */
  interface Service<R> {
    Serving<R> serving(ControlMessage control, byte[] body);
  }

  private static final System.Logger LOG = System.getLogger(TcpEndpoint.class.getName());

  private final TcpEndpointServer server;
  private final String path;
  private final TransportAddress address;
  private final Admission admission;
  private final Service<R> service;
  private final MessageCodec<Q, R> codec;
  final EndpointMeters meters;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition emptied = lock.newCondition();
  private final Set<ServedRequest<Q, R>> running = new HashSet<>(); // guarded by lock
  private boolean refusing; // guarded by lock
  private RequestCarrier.@Nullable Receiving receiving; // guarded by lock

  TcpEndpoint(
      TcpEndpointServer server,
      String path,
      TransportAddress address,
      Admission admission,
      Service<R> service,
      MessageCodec<Q, R> codec,
      EndpointMeters meters) {
    this.meters = meters;
    this.server = server;
    this.path = path;
    this.address = address;
    this.admission = admission;
    this.service = service;
    this.codec = codec;
  }

  /**
   * Accepts the request in a frame, or refuses it.
   *
   * @return the text of the acknowledgement, empty when accepted
   */
  String receive(RequestHeaders headers, RequestFrame frame) {
    if (frame.control().length > ControlMessage.MAX_BYTES) {
      meters.failed(EndpointMeters.Failure.INVALID_MESSAGE);
      return Acks.UNREADABLE;
    }
    ControlMessage control;
    try {
      control = ControlMessage.ofJson(ByteBuffer.wrap(frame.control()));
    } catch (InvalidRequestException e) {
      return refuse(ByteBuffer.wrap(frame.control()), e);
    }
    return accept(control, headers, frame.body(), frame.payloadLength(), callHome(control));
  }

  /**
   * Accepts a request that has a stream for its answer, or refuses it.
   *
   * @param payload frame without path and headers
   */
  void receive(Map<String, String> headers, RequestFrame payload, Http2Exchange exchange) {
    ControlMessage control;
    try {
      control = ControlMessage.ofJson(ByteBuffer.wrap(payload.control()));
    } catch (InvalidRequestException e) {
      noteUnreadable(e);
      exchange.accept(new RefusalAnswer(to -> refusingPrologue(to, e), () -> {}));
      return;
    }
    var text =
        accept(
            control,
            RequestHeaders.of(headers),
            payload.body(),
            payload.payloadLength(),
            exchange::accept);
    if (!text.isEmpty()) {
      exchange.refuse(Acks.httpStatus(text), text);
    }
  }

  /** Returns the route that dials the requester's call-home address. */
  private Consumer<CallHomeListener> callHome(ControlMessage control) {
    var home = control.connection();
    return listener -> {
      try {
        server.callHome.dial(
            SocketAddresses.parse(home.address()),
            new Handshake(home.subject(), Handshake.RESPONSE),
            listener);
      } catch (IllegalArgumentException e) {
        listener.failed(e);
      }
    };
  }

  /**
   * Accepts a request that a carrier brought, or refuses it. Requesters of Dynamo do not read the
   * acknowledgement of a carried request: a refusal also goes to the call-home address.
   */
  String receiveCarried(Map<String, String> headers, byte[] payload) {
    var frame = RequestFrame.ofPayload(payload);
    var text = receive(RequestHeaders.of(headers), frame);
    if (text.isEmpty() || text.equals(Acks.UNREADABLE)) {
      return text;
    }
    var control = ByteBuffer.wrap(frame.control());
    var format = ControlMessage.ofJson(control.duplicate()).format();
    var cause = Acks.failure(text);
    boolean sent =
        sendHome(
            control,
            to -> AnswerEnd.refusal(to, cause, codec.itemForm(), format, meters::recordSentBytes));
    return sent ? "" : text;
  }

  /** Ends {@code carried} with this endpoint, or at once when it has ended. */
  void receiveBy(RequestCarrier.Receiving carried) {
    boolean late;
    lock.lock();
    try {
      late = refusing;
      receiving = carried;
    } finally {
      lock.unlock();
    }
    if (late) {
      carried.close();
    }
  }

  /**
   * Accepts a request, or refuses it.
   *
   * @param payloadBytes size of control message and body, as framed
   * @param route opens the answer stream
   * @return the text of the acknowledgement, empty when accepted
   */
  String accept(
      ControlMessage control,
      RequestHeaders headers,
      byte[] body,
      long payloadBytes,
      Consumer<CallHomeListener> route) {
    var ticket = admission.enter(payloadBytes);
    if (ticket == null) {
      return Acks.OVERLOADED;
    }
    ServedRequest<Q, R> request;
    try {
      request =
          new ServedRequest<>(
              this,
              service.serving(control, body),
              codec,
              control,
              headers.more(),
              ticket,
              server.settings);
    } catch (RuntimeException | Error e) {
      ticket.leave();
      throw e;
    }
    if (!begin(request)) {
      ticket.leave(); // not under the lock: it runs another request's turn
      return Acks.unknownEndpoint(path);
    }
    meters.recordRequestStart(payloadBytes, headers.sentUnixNanos());
    try {
      request.start(server.callHome, route);
    } catch (RuntimeException | Error e) {
      ended(request);
      throw e;
    }
    return "";
  }

  private boolean begin(ServedRequest<Q, R> request) {
    lock.lock();
    try {
      return !refusing && running.add(request);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Refuses a request whose control message cannot be read. If it names at least the requester's
   * call-home address, the reason is sent there, as an error that does not lead to a migration.
   *
   * @return the text of the acknowledgement
   */
  private String refuse(ByteBuffer control, InvalidRequestException cause) {
    noteUnreadable(cause);
    // as a prologue, which needs no payload format: that may be what cannot be read
    return sendHome(control, to -> refusingPrologue(to, cause)) ? "" : Acks.UNREADABLE;
  }

  private void noteUnreadable(InvalidRequestException cause) {
    meters.failed(EndpointMeters.Failure.INVALID_MESSAGE);
    LOG.log(
        System.Logger.Level.DEBUG,
        "endpoint {0} cannot read a request: {1}",
        path,
        cause.getMessage());
  }

  private static ByteBuf refusingPrologue(SentStream to, InvalidRequestException cause) {
    return TwoPartFrame.ofHeader(to.allocator(), Prologue.refused(cause));
  }

  /** Sends a refusal to the requester's call-home address; returns whether there is one. */
  private boolean sendHome(ByteBuffer control, Function<SentStream, ByteBuf> refusal) {
    var home = ControlMessage.homeOf(control);
    if (home == null || !server.refusals.tryAcquire()) {
      return false;
    }
    try {
      server.callHome.dial(
          SocketAddresses.parse(home.address()),
          new Handshake(home.subject(), Handshake.RESPONSE),
          new RefusalAnswer(refusal, server.refusals::release));
      return true;
    } catch (IllegalArgumentException e) {
      server.refusals.release();
      return false;
    } catch (RuntimeException | Error e) {
      server.refusals.release();
      throw e;
    }
  }

  void ended(ServedRequest<Q, R> request) {
    boolean first = true;
    try {
      first = request.leave();
    } finally { // also when the turn of the next request fails
      if (first) {
        forget(request);
      }
    }
  }

  private void forget(ServedRequest<Q, R> request) {
    meters.ended(request.ageNanos());
    lock.lock();
    try {
      running.remove(request);
      if (running.isEmpty()) {
        emptied.signalAll(); // last: waiting threads find all of it done and counted
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public TransportAddress address() {
    return address;
  }

  @Override
  public int inFlight() {
    lock.lock();
    try {
      return running.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean drain(Deadline deadline) throws InterruptedException {
    refuse();
    lock.lock();
    try {
      while (!running.isEmpty()) {
        long left = deadline.remainingNanos();
        if (left <= 0) {
          return false;
        }
        boolean signalled = emptied.await(left, TimeUnit.NANOSECONDS);
        if (!signalled && !running.isEmpty()) {
          return false;
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    var cause =
        new WorkerLostException(
            ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the worker closed endpoint " + path);
    var open = refuse();
    open.forEach(request -> request.forbid(cause)); // all first: an ending request starts the next
    open.forEach(request -> request.shutDown(cause));
  }

  private List<ServedRequest<Q, R>> refuse() {
    server.forget(path, this);
    RequestCarrier.Receiving ending;
    List<ServedRequest<Q, R>> open;
    lock.lock();
    try {
      refusing = true;
      ending = receiving;
      open = List.copyOf(running);
    } finally {
      lock.unlock();
    }
    if (ending != null) {
      ending.close();
    }
    return open;
  }
}
