package io.dynamo.event.zmq;

import io.dynamo.discovery.Discovery;
import io.dynamo.event.AnnouncedPublisher;
import io.dynamo.event.EventBudget;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.zmtp.ZmtpLoop;
import io.dynamo.pipeline.zmtp.ZmtpPublisher;
import io.dynamo.wire.event.EventEnvelope;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A publisher's socket behind a bounded queue. One thread at a time publishes; the loop's thread
 * sends.
 */
final class ZmqPublisher
    implements EventPlane.Publisher, BatchSending.Sender<ZmqPublisher.QueuedZmqEvent> {
  private static final System.Logger LOG = System.getLogger(ZmqPublisher.class.getName());
  private static final int BATCH = 256; // bytes sent before the loop serves other sockets
  private static final int BATCH_BYTES = 1 << 20;

  /** An event on its way to the socket. */
  record QueuedZmqEvent(byte[] sequence, byte[] envelope, int payloadBytes) {}

  /**
   * Where the events leave.
   *
   * @param loop sends
   * @param socket bound, or connected by {@code brokers}
   */
  record Output(ZmtpLoop loop, ZmtpPublisher socket, List<PeerLink> brokers) {}

  private final EventSubject subject;
  private final long id;
  private final ZmtpPublisher socket;
  private final List<PeerLink> brokers; // by the loop only
  private final Discovery.Handle record;
  private final EventBudget budget;
  private final Metrics.Counter dropped;
  private final InstantSource clock;
  private final Consumer<ZmqPublisher> onClose;
  private final byte[] topicFrame;
  private final byte[] idFrame;
  private final BatchSending<QueuedZmqEvent> sending;
  private final AtomicBoolean closed = new AtomicBoolean();
  private boolean complained; // by the loop
  private long sequence; // of the next event

  /**
   * @param firstFrame text of the first frame, which subscribers filter by
   * @param output closed with this publisher
   * @param budget limit of the events that wait for the socket; used by this publisher alone
   */
  ZmqPublisher(
      AnnouncedPublisher announced,
      String firstFrame,
      Output output,
      EventBudget budget,
      Metrics.Counter dropped,
      InstantSource clock,
      Consumer<ZmqPublisher> onClose) {
    this.subject = announced.subject();
    this.id = announced.id();
    this.record = announced.record();
    this.socket = output.socket();
    this.brokers = output.brokers();
    this.budget = budget;
    this.dropped = dropped;
    this.clock = clock;
    this.onClose = onClose;
    this.topicFrame = EventFrames.topic(firstFrame);
    this.idFrame = EventFrames.number(announced.id());
    this.sending =
        new BatchSending<>(
            output.loop()::execute,
            task -> output.loop().executeAfter(Duration.ZERO, task),
            BATCH,
            BATCH_BYTES,
            this);
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
    long number = sequence++; // also for a dropped event, so that subscribers see a gap
    if (!budget.take(payload.length)) {
      dropped.increment();
      return;
    }
    var event = new EventEnvelope(id, number, clock.millis(), subject.topic(), payload);
    sending.add(
        new QueuedZmqEvent(
            EventFrames.number(number), EventFrames.envelope(event), payload.length));
  }

  @Override
  public int send(QueuedZmqEvent event) {
    budget.give(event.payloadBytes);
    try {
      socket.write(topicFrame, idFrame, event.sequence, event.envelope);
    } catch (RuntimeException | Error e) {
      failed(e);
    }
    return event.envelope.length;
  }

  @Override
  public void drop(QueuedZmqEvent event) {
    budget.give(event.payloadBytes);
    dropped.increment();
  }

  @Override
  public void flush() {
    socket.flush();
  }

  private void failed(Throwable why) {
    dropped.increment();
    if (!complained) {
      complained = true;
      LOG.log(Level.ERROR, "an event of " + subject + " was not sent", why);
    }
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    onClose.accept(this);
    record.close(); // accepts no more subscribers, then closes those connected
    sending.close();
  }

  @Override
  public void end() {
    socket.close();
    brokers.forEach(broker -> broker.finish(() -> {}));
  }
}
