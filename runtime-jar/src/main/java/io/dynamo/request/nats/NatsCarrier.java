package io.dynamo.request.nats;

import io.dynamo.concurrent.SerialTasks;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.nats.NatsLink;
import io.dynamo.nats.NoRespondersException;
import io.dynamo.request.tcp.RequestCarrier;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;

/**
 * Carries requests over NATS: each instance has a subject of its own, and its worker acknowledges a
 * request by an empty reply. Requests and replies wait in bounded queues, from which virtual
 * threads hand them to the client library. Safe for concurrent use.
 */
public final class NatsCarrier implements RequestCarrier, AutoCloseable {
  /** The queue group of NATS micro services, which Dynamo's workers use. */
  private static final String QUEUE = "q";

  private static final int MAX_WAITING = 4096;

  private final NatsLink link;
  private final Duration acknowledgement;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("nats-request-", 0).factory());
  private final SerialTasks sending = SerialTasks.bounded("requests to NATS", threads, MAX_WAITING);
  private final SerialTasks replies = SerialTasks.bounded("replies to NATS", threads, MAX_WAITING);

  /**
   * @param link must outlive this carrier
   * @param acknowledgement how long a worker may take to reply
   */
  public NatsCarrier(NatsLink link, Duration acknowledgement) {
    this.link = link;
    this.acknowledgement = acknowledgement;
  }

  @Override
  public void send(
      TransportAddress.Nats to, Map<String, String> headers, byte[] payload, Outcome outcome) {
    if (payload.length > link.maxPayload() && link.maxPayload() > 0) {
      outcome.failed(
          new InvalidRequestException(
              "request of %d bytes exceeds max_payload of the NATS server, %d bytes; raise it there or shorten the prompt"
                  .formatted(payload.length, link.maxPayload())));
    } else if (!sending.offer(() -> request(to, headers, payload, outcome))) {
      outcome.failed(
          new OverloadedException(
              MAX_WAITING + " requests wait to be sent to NATS; the server does not keep up"));
    }
  }

  private void request(
      TransportAddress.Nats to, Map<String, String> headers, byte[] payload, Outcome outcome) {
    var _ =
        link.request(to.subject(), headers, payload, acknowledgement)
            .whenComplete(
                (reply, failure) -> {
                  if (failure == null) {
                    outcome.acknowledged(new String(reply, StandardCharsets.UTF_8));
                  } else {
                    outcome.failed(lost(to, failure));
                  }
                });
  }

  private DynamoException lost(TransportAddress.Nats to, Throwable failure) {
    var cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return switch (cause) {
      case NoRespondersException nobody ->
          new WorkerLostException(
              ErrorCode.WORKER_UNAVAILABLE, String.valueOf(nobody.getMessage()));
      case TimeoutException _ ->
          new WorkerLostException(
              ErrorCode.CANNOT_CONNECT,
              "worker %s has not acknowledged a request within %s"
                  .formatted(to.subject(), acknowledgement));
      default ->
          new WorkerLostException(
              ErrorCode.CANNOT_CONNECT, "cannot send over NATS: " + cause.getMessage(), cause);
    };
  }

  @Override
  public TransportAddress.Nats address(EndpointId endpoint, InstanceId id) {
    return TransportAddress.Nats.of(endpoint, id);
  }

  @Override
  public Receiving receive(TransportAddress.Nats address, Receiver receiver) {
    var registration =
        link.serve(
            address.subject(),
            QUEUE,
            (data, headers, replyTo) -> {
              var text = receiver.receive(headers, data).getBytes(StandardCharsets.UTF_8);
              if (replyTo != null) {
                replies.offer(() -> link.publish(replyTo, text)); // a lost reply is a timeout
              }
            });
    link.flush(); // requesters find the instance in discovery only after this
    return registration::close;
  }

  /** Stops sending. Idempotent. */
  @Override
  public void close() {
    sending.close();
    replies.close();
    threads.shutdownNow();
  }
}
