package io.dynamo.event.nats;

import io.dynamo.concurrent.CoalescedTask;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Discovery;
import io.dynamo.event.AnnouncedPublisher;
import io.dynamo.event.EventBudget;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import io.dynamo.wire.event.EnvelopeCodec;
import io.dynamo.wire.event.EventEnvelope;
import java.lang.System.Logger.Level;
import java.time.InstantSource;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue before the connection to NATS. One thread at a time publishes; a virtual thread
 * that exists while there are events hands them to the client library.
 */
final class NatsPublisher implements EventPlane.Publisher, NatsLink.Watcher {
  private static final System.Logger LOG = System.getLogger(NatsPublisher.class.getName());

  /** Gives events to the server, one at a time. */
  interface Sender {
    /**
     * Sends an event; may wait for the server.
     *
     * @return {@code DOWN} when the event must be sent again once the connection stands
     */
    NatsLink.Outcome send(long sequence, byte[] envelope);
  }

  /** An event on its way to the client library. */
  private record QueuedNatsEvent(long sequence, byte[] envelope, int payloadBytes) {}

  private final EventSubject subject;
  private final long id;
  private final NatsLink link;
  private final Sender sender;
  private final Discovery.Handle record;
  private final EventBudget budget;
  private final Metrics.Counter dropped;
  private final Metrics.Counter tooLarge;
  private final InstantSource clock;
  private final Consumer<NatsPublisher> onClose;
  private final CoalescedTask sending;
  private final Queue<QueuedNatsEvent> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile NatsLink.@Nullable Registration watch;
  private boolean complained; // by the sending task
  private long sequence; // of the next event

  /**
   * @param budget limit of the events that wait for the connection; used by this publisher alone
   * @param threads runs the sending
   */
  NatsPublisher(
      AnnouncedPublisher announced,
      NatsLink link,
      Sender sender,
      EventBudget budget,
      Executor threads,
      Metrics metrics,
      InstantSource clock,
      Consumer<NatsPublisher> onClose) {
    this.subject = announced.subject();
    this.id = announced.id();
    this.record = announced.record();
    this.link = link;
    this.sender = sender;
    this.budget = budget;
    this.dropped = metrics.counter(EventMetrics.DROPPED, EventMetrics.PUBLISHER_FULL);
    this.tooLarge = metrics.counter(EventMetrics.DROPPED, EventMetrics.TOO_LARGE);
    this.clock = clock;
    this.onClose = onClose;
    this.sending =
        new CoalescedTask(
            "the publisher of " + announced.subject(), threads, this::send, this::finish);
  }

  void open() {
    watch = link.watch(this);
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
    queue.add(new QueuedNatsEvent(number, EnvelopeCodec.encode(event), payload.length));
    sending.request();
  }

  /** Sends the waiting events again, after an outage. */
  @Override
  public void up() {
    sending.request();
  }

  @Override
  public void cut() {}

  private void send() {
    for (var next = queue.peek(); next != null; next = queue.peek()) {
      var outcome = sender.send(next.sequence, next.envelope);
      if (outcome == NatsLink.Outcome.DOWN) {
        break; // what is up again requests the next run
      }
      queue.poll();
      budget.give(next.payloadBytes);
      if (outcome == NatsLink.Outcome.TOO_LARGE) {
        refused(next);
      }
    }
    if (closed.get()) {
      finish();
    }
  }

  private void refused(QueuedNatsEvent event) {
    tooLarge.increment();
    if (!complained) {
      complained = true;
      LOG.log(
          Level.WARNING,
          "an event of {0} with {1} bytes exceeds max_payload of the NATS server, {2}, and is"
              + " dropped; raise it there",
          subject,
          event.envelope.length,
          link.maxPayload());
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      onClose.accept(this);
      sending.request();
    }
  }

  /** Waits until the last events are with the server, or gives them up. */
  void awaitEnd(Deadline patience) {
    try {
      if (!end.await(patience.remainingNanos(), TimeUnit.NANOSECONDS)) {
        finish();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      finish();
    }
  }

  private void finish() {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    if (link.isUp()) {
      link.flush(); // subscribers should have the last events before the publisher is gone
    }
    dropped.add(queue.size());
    record.close();
    var watching = watch;
    if (watching != null) {
      watching.close();
    }
    end.countDown();
  }
}
