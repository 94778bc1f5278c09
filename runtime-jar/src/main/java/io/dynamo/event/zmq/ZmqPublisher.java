package io.dynamo.event.zmq;

import io.dynamo.discovery.Discovery;
import io.dynamo.event.EventBudget;
import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.zmtp.ZmtpLoop;
import io.dynamo.pipeline.zmtp.ZmtpPublisher;
import java.time.InstantSource;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A publisher's socket behind a bounded queue. One thread at a time publishes; the loop's thread
 * sends.
 */
final class ZmqPublisher implements EventPlane.Publisher {
  private static final int BATCH = 256; // events sent before another publisher has its turn

  /** An event on its way to the socket. */
  private record Outgoing(byte[] sequence, byte[] envelope, int payloadBytes) {}

  private final EventSubject subject;
  private final long id;
  private final ZmtpLoop loop;
  private final ZmtpPublisher socket;
  private final List<PeerLink> brokers; // by the loop only
  private final Discovery.Handle record;
  private final EventBudget budget;
  private final Metrics.Counter dropped;
  private final InstantSource clock;
  private final Consumer<ZmqPublisher> onClose;
  private final byte[] topicFrame;
  private final byte[] idFrame;
  private final Queue<Outgoing> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting =
      new AtomicInteger(); // raised after an event is queued; whoever raises it from 0 sends
  private final AtomicBoolean closed = new AtomicBoolean();
  private long sequence; // of the next event

  /**
   * @param firstFrame what subscribers ask for
   * @param socket bound, or connected by {@code brokers}; closed with this, as those are
   * @param budget for what waits for the socket; of this alone
   * @param record tells others where {@code socket} is; closed with it
   */
  ZmqPublisher(
      EventSubject subject,
      String firstFrame,
      long id,
      ZmtpLoop loop,
      ZmtpPublisher socket,
      List<PeerLink> brokers,
      Discovery.Handle record,
      EventBudget budget,
      Metrics.Counter dropped,
      InstantSource clock,
      Consumer<ZmqPublisher> onClose) {
    this.subject = subject;
    this.id = id;
    this.loop = loop;
    this.socket = socket;
    this.brokers = brokers;
    this.record = record;
    this.budget = budget;
    this.dropped = dropped;
    this.clock = clock;
    this.onClose = onClose;
    this.topicFrame = EventFrames.topic(firstFrame);
    this.idFrame = EventFrames.number(id);
  }

  @Override
  public long id() {
    return id;
  }

  @Override
  public void publish(byte[] payload) {
    if (closed.get()) {
      throw new IllegalStateException("the publisher of " + subject + " is closed");
    }
    long number = sequence++; // also for what is dropped: the gap tells
    if (!budget.take(payload.length)) {
      dropped.increment();
      return;
    }
    var event = new EventEnvelope(id, number, clock.millis(), subject.topic(), payload);
    queue.add(
        new Outgoing(EventFrames.number(number), EventFrames.envelope(event), payload.length));
    if (waiting.getAndIncrement() == 0) {
      loop.execute(this::send);
    }
  }

  private void send() {
    int sent = 0;
    for (var event = next(sent); event != null; event = next(sent)) {
      sent++;
      budget.give(event.payloadBytes);
      socket.write(topicFrame, idFrame, event.sequence, event.envelope);
    }
    socket.flush();
    if (waiting.addAndGet(-sent) > 0) {
      loop.execute(this::send);
    }
  }

  private @Nullable Outgoing next(int sent) {
    return sent == BATCH ? null : queue.poll();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    onClose.accept(this);
    record.close(); // nobody comes any more; then those who are there are left
    loop.execute(
        () -> {
          brokers.forEach(PeerLink::close);
          socket.close();
        });
  }
}
