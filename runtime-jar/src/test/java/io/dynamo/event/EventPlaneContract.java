package io.dynamo.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventScope;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.testing.ManualClock;
import io.dynamo.wire.event.EventEnvelope;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The contract of every event plane. */
public abstract class EventPlaneContract {
  /** Events that a subscription holds. */
  protected static final int CAPACITY = 1000;

  protected static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");
  protected static final EventSubject SUBJECT = new EventSubject(ENDPOINT, "kv-events");

  protected final Metrics metrics = new Metrics();
  protected final ManualClock clock = ManualClock.now();
  private final List<EventPlane> open = new ArrayList<>();

  /** Another process of the same plane; where a plane is within one process, the same one. */
  protected abstract EventPlane join();

  protected final EventPlane joined() {
    var plane = join();
    open.add(plane);
    return plane;
  }

  @AfterEach
  void closeAll() {
    open.forEach(EventPlane::close);
  }

  protected static byte[] payload(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }

  protected static int number(EventEnvelope event) {
    return ByteBuffer.wrap(event.payload()).getInt();
  }

  @Test
  void eventsOfAPublisherComeInOrderWithTheirEnvelope() throws InterruptedException {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);

    for (int i = 0; i < 500; i++) {
      publisher.publish(payload(i));
    }

    var heard = ear.next(500);
    long first = heard.getFirst().sequence();
    assertThat(first).isPositive(); // the probes came before
    for (int i = 0; i < 500; i++) {
      var event = heard.get(i);
      assertThat(number(event)).isEqualTo(i);
      assertThat(event.sequence()).isEqualTo(first + i);
      assertThat(event.publisherId()).isEqualTo(publisher.id()).isBetween(0L, (1L << 53) - 1);
      assertThat(event.publishedAtMillis()).isEqualTo(clock.millis());
      assertThat(event.topic()).isEqualTo("kv-events");
    }
  }

  @Test
  void anEventMayBeEmptyAndMayBeLarge() throws InterruptedException {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);
    var large = new byte[300_000];
    large[299_999] = 7;

    publisher.publish(new byte[0]);
    publisher.publish(large);

    assertThat(ear.next().payload()).isEmpty();
    assertThat(ear.next().payload()).isEqualTo(large);
  }

  @Test
  void twoSubscribersHearAllAndOwnWhatTheyHear() throws InterruptedException {
    var first = new Ear();
    var second = new Ear();
    var plane = joined();
    plane.subscribe(SUBJECT, first);
    joined().subscribe(SUBJECT, second);
    var publisher = plane.publisher(SUBJECT);
    first.connectTo(publisher);
    second.connectTo(publisher);

    publisher.publish(payload(1));
    first.next().payload()[3] = 9;

    assertThat(number(second.next())).isEqualTo(1);
  }

  @Test
  void publishersOfASubjectAreHeardSideBySide() throws InterruptedException {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var plane = joined();
    var one = plane.publisher(SUBJECT);
    var other = plane.publisher(SUBJECT);
    ear.connectTo(one);
    ear.connectTo(other);

    one.publish(payload(1));
    other.publish(payload(2));

    assertThat(ear.next(2))
        .extracting(EventEnvelope::publisherId)
        .containsExactlyInAnyOrder(one.id(), other.id())
        .doesNotHaveDuplicates();
  }

  @Test
  void scopesAndTopicsAreExact() throws InterruptedException {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var plane = joined();
    var others =
        List.of(
            plane.publisher(new EventSubject(ENDPOINT, "kv-events-v2")),
            plane.publisher(new EventSubject(ENDPOINT, "kv")),
            plane.publisher(
                new EventSubject(new EventScope.OfComponent("dynamo", "backend"), "kv-events")),
            plane.publisher(
                new EventSubject(new EndpointId("dynamo", "backend", "other"), "kv-events")));
    var publisher = plane.publisher(SUBJECT);
    ear.connectTo(publisher);

    others.forEach(other -> other.publish(payload(0)));
    publisher.publish(payload(1));

    assertThat(number(ear.next())).isEqualTo(1);
    assertThat(ear.rest()).isEmpty();
  }

  @Test
  void aClosedSubscriptionHearsNothing() throws InterruptedException {
    var silent = new Ear();
    var ear = new Ear();
    var plane = joined();
    var subscription = plane.subscribe(SUBJECT, silent);
    plane.subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);
    silent.connectTo(publisher);

    subscription.close();
    subscription.close();
    publisher.publish(payload(1));

    assertThat(number(ear.next())).isEqualTo(1);
    assertThat(silent.rest()).isEmpty();
  }

  @Test
  void aLateSubscriberHearsWhatFollowsAndSeesWhatItMissed() throws InterruptedException {
    var publisher = joined().publisher(SUBJECT);
    for (int i = 0; i < 10; i++) {
      publisher.publish(payload(i));
    }
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    ear.connectTo(publisher);
    ear.rest(); // those that were on their way when it came

    publisher.publish(payload(10));

    var event = ear.next();
    assertThat(number(event)).isEqualTo(10);
    assertThat(event.sequence()).isGreaterThan(10);
  }

  @Test
  protected void publishersComeAndGo() throws InterruptedException {
    var ear = new Ear();
    var plane = joined();
    var first = plane.publisher(SUBJECT);
    joined().subscribe(SUBJECT, ear);
    assertThat(ear.nextOfPublishers()).isEqualTo("found " + first.id());
    ear.connectTo(first);

    first.close();
    first.close();
    assertThat(ear.nextOfPublishers()).isEqualTo("lost " + first.id());
    assertThatThrownBy(() -> first.publish(payload(0))).isInstanceOf(IllegalStateException.class);

    var again = plane.publisher(SUBJECT);
    assertThat(again.id()).isNotEqualTo(first.id());
    assertThat(ear.nextOfPublishers()).isEqualTo("found " + again.id());
    ear.connectTo(again);
    again.publish(payload(2));
    assertThat(number(ear.next())).isEqualTo(2);
  }

  /** Of planes that store nothing. */
  @Test
  protected void aSlowSubscriberLosesEventsAndNobodyWaitsForIt() throws InterruptedException {
    var begun = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    var slow = new Ear();
    var ear = new Ear();
    var plane = joined();
    plane.subscribe(
        SUBJECT,
        stuckAt(
            event -> event.payload().length == 1 && event.payload()[0] == 1, begun, release, slow));
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    slow.connectTo(publisher);
    ear.connectTo(publisher);
    publisher.publish(new byte[] {1});
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    ear.next();

    int count = 3 * CAPACITY;
    for (int i = 0; i < count; i++) {
      publisher.publish(payload(i));
      ear.next(); // the other subscriber keeps up
    }
    var dropped = metrics.counter(EventMetrics.DROPPED, EventMetrics.SUBSCRIPTION_FULL);
    Until.holds(() -> dropped.value() >= count - CAPACITY);
    release.countDown();

    var heard = slow.next(1 + CAPACITY);
    assertThat(number(heard.getLast())).isEqualTo(CAPACITY - 1);
    assertThat(dropped.value()).isEqualTo(count - CAPACITY);
    publisher.publish(payload(count));
    var next = slow.next();
    assertThat(number(next)).isEqualTo(count);
    assertThat(next.sequence() - heard.getLast().sequence()).isEqualTo(count - CAPACITY + 1);
  }

  private static Consumer<EventEnvelope> stuckAt(
      java.util.function.Predicate<EventEnvelope> where,
      CountDownLatch begun,
      CountDownLatch release,
      Ear ear) {
    return event -> {
      if (where.test(event)) {
        begun.countDown();
        try {
          assertThat(release.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException _) {
          Thread.currentThread().interrupt();
        }
      }
      ear.accept(event);
    };
  }

  @Test
  void aListenerThatFailsIsToldTheNext() throws InterruptedException {
    var ear = new Ear();
    joined()
        .subscribe(
            SUBJECT,
            event -> {
              ear.accept(event);
              if (event.payload().length == 4) {
                throw new IllegalStateException("thrown by the test");
              }
            });
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);

    publisher.publish(payload(1));
    publisher.publish(payload(2));

    assertThat(ear.next(2)).extracting(EventPlaneContract::number).containsExactly(1, 2);
  }

  @Test
  void aClosedPlaneRefusesWork() {
    var plane = joined();
    var publisher = plane.publisher(SUBJECT);
    plane.close();
    plane.close();

    assertThatThrownBy(() -> publisher.publish(payload(0)))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> plane.publisher(SUBJECT)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> plane.subscribe(SUBJECT, new Ear()))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void noThreadOutlivesItsPlane() throws InterruptedException {
    var before = Thread.getAllStackTraces().keySet();
    var plane = join();
    var ear = new Ear();
    plane.subscribe(SUBJECT, ear);
    ear.connectTo(plane.publisher(SUBJECT));

    plane.close();

    Until.holds(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .noneMatch(thread -> thread.getName().startsWith("event")));
  }
}
