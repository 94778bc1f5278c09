package io.dynamo.worker.kv;

import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.wire.event.EventEnvelope;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A plane whose subscribers miss some messages and receive others twice. Faults are set by the
 * test's thread and read by the plane's.
 */
final class LossyPlane implements EventPlane {
  private final EventPlane plane;
  private final Random random; // used by the subscription's thread
  private final AtomicInteger arrived = new AtomicInteger();
  private final AtomicInteger lost = new AtomicInteger();
  private volatile double losing;
  private volatile double doubling;

  LossyPlane(EventPlane plane, long seed) {
    this.plane = plane;
    this.random = new Random(seed);
  }

  /** Sets the faults from now on; chances from 0 to 1. */
  void faults(double losing, double doubling) {
    this.losing = losing;
    this.doubling = doubling;
  }

  /** Returns the number of messages that arrived, including lost ones. */
  int arrived() {
    return arrived.get();
  }

  int lost() {
    return lost.get();
  }

  @Override
  public Publisher publisher(EventSubject subject) {
    return plane.publisher(subject);
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    return plane.subscribe(subject, event -> hear(event, listener));
  }

  private void hear(EventEnvelope event, Consumer<EventEnvelope> listener) {
    double chance = random.nextDouble();
    if (chance < losing) {
      lost.incrementAndGet();
    } else {
      listener.accept(event);
      if (chance > 1 - doubling) {
        listener.accept(event);
      }
    }
    arrived.incrementAndGet();
  }

  @Override
  public void close() {
    plane.close();
  }
}
