package io.dynamo.request.tcp;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.MessageCodec;
import io.dynamo.request.codec.ControlMessage;
import io.dynamo.request.codec.RequestHeaders;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** One endpoint behind the listener, and the requests it is serving. Safe for concurrent use. */
final class TcpEndpoint<Q, R> implements EndpointServer.Served {
  private final TcpEndpointServer server;
  private final TransportAddress.Tcp address;
  private final EndpointHandler<Q, R> handler;
  private final MessageCodec<Q, R> codec;
  final EndpointMeters meters;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition emptied = lock.newCondition();
  private final Set<ServedRequest<Q, R>> running = new HashSet<>(); // guarded by lock
  private boolean refusing; // guarded by lock

  TcpEndpoint(
      TcpEndpointServer server,
      TransportAddress.Tcp address,
      EndpointHandler<Q, R> handler,
      MessageCodec<Q, R> codec,
      EndpointMeters meters) {
    this.meters = meters;
    this.server = server;
    this.address = address;
    this.handler = handler;
    this.codec = codec;
  }

  /**
   * Takes a request, or refuses it.
   *
   * @param payloadBytes of control message and body, as framed
   * @return the text of the acknowledgement, empty when taken
   */
  String accept(ControlMessage control, RequestHeaders headers, byte[] body, long payloadBytes) {
    if (!server.permits.tryAcquire()) {
      server.rejected.increment();
      return Acks.OVERLOADED;
    }
    var request = new ServedRequest<>(this, handler, codec, control, headers.more(), body);
    lock.lock();
    try {
      if (refusing) {
        server.permits.release();
        return Acks.unknownEndpoint(address.path());
      }
      running.add(request);
    } finally {
      lock.unlock();
    }
    server.active.add(1);
    meters.begun(payloadBytes, headers.sentUnixNanos());
    request.start(server.callHome, server.settings.streamBuffer());
    return "";
  }

  void ended(ServedRequest<Q, R> request) {
    lock.lock();
    try {
      if (!running.remove(request)) {
        return;
      }
      if (running.isEmpty()) {
        emptied.signalAll();
      }
    } finally {
      lock.unlock();
    }
    server.active.add(-1);
    meters.ended(request.ageNanos());
    server.permits.release();
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
    for (var request : refuse()) {
      request.shutDown(
          new WorkerLostException(
              ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the worker closed endpoint " + address.path()));
    }
  }

  private List<ServedRequest<Q, R>> refuse() {
    server.forget(address.path(), this);
    lock.lock();
    try {
      refusing = true;
      return List.copyOf(running);
    } finally {
      lock.unlock();
    }
  }
}
