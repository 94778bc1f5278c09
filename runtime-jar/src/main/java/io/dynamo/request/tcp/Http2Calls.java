package io.dynamo.request.tcp;

import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.StreamListener;
import io.dynamo.pipeline.http2.Http2Bounds;
import io.dynamo.pipeline.http2.Http2Client;
import io.dynamo.pipeline.http2.Http2Request;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Sends requests over HTTP/2, whose answers come on the same streams. Safe for concurrent use. */
final class Http2Calls implements AutoCloseable {
  private static final Duration FIN_TIMEOUT = Duration.ofSeconds(10);

  private final PlaneTls tls;
  private final ByteBudget budget;
  private final PlaneMeters meters;
  private final Http2Client client;

  /**
   * @param tls owned and closed by the caller
   * @param budget bounds the bytes of requests that have no response yet
   */
  Http2Calls(
      TcpSettings settings, PlaneTls tls, EventLoops loops, ByteBudget budget, PlaneMeters meters) {
    this.tls = tls;
    this.budget = budget;
    this.meters = meters;
    client =
        new Http2Client(
            loops,
            tls.connecting(),
            bounds(settings),
            settings.timeouts().connect(),
            settings.pool().size());
  }

  static Http2Bounds bounds(TcpSettings settings) {
    return new Http2Bounds(
        settings.maxFrameBytes(),
        settings.timeouts().acknowledgement(),
        settings.timeouts().writeStall(),
        FIN_TIMEOUT);
  }

  /**
   * Sends a request; refuses it at once when too many bytes wait to be sent.
   *
   * @param answer null for a request whose outcome alone matters
   * @return false when the budget has no room
   */
  boolean send(
      TransportAddress.Http2 to,
      OutgoingRequest request,
      @Nullable StreamListener answer,
      RequestConnection.Outcome outcome) {
    var worker = SocketAddresses.parse(to.address());
    long bytes = request.frame().length();
    if (!budget.take(bytes)) {
      return false;
    }
    var sent = new Sent(worker, bytes, outcome);
    if (to.secure() != (tls.connecting() != null)) {
      sent.end();
      outcome.failed(
          new WorkerLostException(
              ErrorCode.CANNOT_CONNECT,
              "worker %s %s; set dynamo.request.tcp.tls.authorities alike on all processes"
                  .formatted(
                      to, to.secure() ? "speaks TLS, this process does not" : "speaks no TLS")));
      return true;
    }
    client.send(
        worker,
        new Http2Request(
            to.path(), request.headers(), request.frame().control(), request.frame().body()),
        answer,
        sent);
    return true;
  }

  /** A request without a response. */
  private final class Sent implements Http2Client.Outcome {
    private final InetSocketAddress worker;
    private final long bytes;
    private final RequestConnection.Outcome outcome;

    Sent(InetSocketAddress worker, long bytes, RequestConnection.Outcome outcome) {
      this.worker = worker;
      this.bytes = bytes;
      this.outcome = outcome;
    }

    void end() {
      budget.give(bytes);
    }

    @Override
    public void accepted() {
      end();
      meters.bytesSent().add(bytes);
      outcome.acknowledged();
    }

    @Override
    public void refused(String text) {
      end();
      outcome.refused(Acks.failure(text));
    }

    @Override
    public void failed(Throwable cause) {
      end();
      if (cause instanceof IllegalArgumentException) {
        outcome.failed(
            new InvalidRequestException("a header cannot be sent: " + cause.getMessage()));
      } else {
        lost("cannot reach worker %s: %s".formatted(worker, cause.getMessage()), cause);
      }
    }

    @Override
    public void late(Duration limit) {
      end();
      lost("worker %s has not acknowledged a request within %s".formatted(worker, limit), null);
    }

    private void lost(String what, @Nullable Throwable cause) {
      meters.errors().increment();
      outcome.failed(new WorkerLostException(ErrorCode.CANNOT_CONNECT, what, cause));
    }

    @Override
    public void busy(int streams) {
      end();
      outcome.failed(
          new WorkerBusyException(
              "all connections to worker %s have %d streams".formatted(worker, streams)));
    }
  }

  /** Returns the number of open connections, to all workers. */
  int connections() {
    return client.connections();
  }

  /** Closes all connections with their streams. Idempotent. */
  @Override
  public void close() {
    client.close();
  }
}
