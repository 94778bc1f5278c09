package io.dynamo.event;

import io.dynamo.testing.Recorder;
import io.dynamo.wire.event.EventEnvelope;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A listener that knows when it is connected: it hears probes apart from events. */
public final class Ear implements EventListener {
  private static final String PROBE = "probe ";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long FIRST_PAUSE_MILLIS = 10;
  private static final long LONGEST_PAUSE_MILLIS = 250;

  private static final AtomicLong CONNECTIONS = new AtomicLong();

  private final LinkedBlockingQueue<Long> probes = new LinkedBlockingQueue<>();
  private final Recorder<EventEnvelope> events = new Recorder<>();
  private final Recorder<String> publishers = new Recorder<>();

  @Override
  public void accept(EventEnvelope event) {
    var text = new String(event.payload(), StandardCharsets.ISO_8859_1);
    if (text.startsWith(PROBE)) {
      probes.add(Long.valueOf(text.substring(PROBE.length())));
    } else {
      events.accept(event);
    }
  }

  @Override
  public void publisherFound(long publisherId) {
    publishers.accept("found " + publisherId);
  }

  @Override
  public void publisherLost(long publisherId) {
    publishers.accept("lost " + publisherId);
  }

  /**
   * Publishes probes until one is heard; from then on everything is. Probes have a number, as late
   * ones of another connection may come from a publisher with the same id. The pauses between them
   * grow, so that they do not fill the queue of a publisher whose events wait for a slow server.
   */
  public void connectTo(EventPlane.Publisher publisher) throws InterruptedException {
    long connection = CONNECTIONS.incrementAndGet();
    long begun = System.nanoTime();
    for (long pauseMillis = FIRST_PAUSE_MILLIS;
        System.nanoTime() - begun < PATIENCE.toNanos();
        pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS)) {
      publisher.publish((PROBE + connection).getBytes(StandardCharsets.US_ASCII));
      for (var heard = probe(pauseMillis); heard != null; heard = probe(pauseMillis)) {
        if (heard == connection) {
          return;
        }
      }
    }
    throw new AssertionError("publisher " + publisher.id() + " is not heard");
  }

  private @Nullable Long probe(long pauseMillis) throws InterruptedException {
    return probes.poll(pauseMillis, TimeUnit.MILLISECONDS);
  }

  /** The next event that is no probe; fails when it does not come. */
  public EventEnvelope next() throws InterruptedException {
    return events.next();
  }

  /** The next events; fails when they do not come. */
  public List<EventEnvelope> next(int count) throws InterruptedException {
    return events.next(count);
  }

  /** Events heard and not asked for. */
  public List<EventEnvelope> rest() {
    return events.rest();
  }

  /** {@code found} or {@code lost}, and the publisher's id; fails when nothing comes. */
  public String nextOfPublishers() throws InterruptedException {
    return publishers.next();
  }
}
