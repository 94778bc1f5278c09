package io.dynamo.event.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.EndpointId;
import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import io.dynamo.testing.Heard;
import io.dynamo.testing.ManualClock;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LocalEventPlaneTest {
  private static final EndpointId SCOPE = new EndpointId("n", "c", "e");
  private static final EventSubject SUBJECT = new EventSubject(SCOPE, "kv-events");

  private final Metrics metrics = new Metrics();
  private final LocalEventPlane plane =
      new LocalEventPlane(4, metrics, new Random(1), ManualClock.now());

  @AfterEach
  void close() {
    plane.close();
  }

  @Test
  void aSubscriberHearsItsSubjectInOrder() throws InterruptedException {
    var heard = new Heard<EventEnvelope>();
    plane.subscribe(SUBJECT, heard);
    var publisher = plane.publisher(SUBJECT);
    plane.publisher(new EventSubject(SCOPE, "other")).publish(new byte[] {9});

    for (byte i = 0; i < 3; i++) {
      publisher.publish(new byte[] {i});
      var event = heard.next();
      assertThat(event.sequence()).isEqualTo(i);
      assertThat(event.payload()).containsExactly(i);
      assertThat(event.publisherId()).isEqualTo(publisher.id()).isBetween(0L, (1L << 53) - 1);
      assertThat(event.topic()).isEqualTo("kv-events");
    }
  }

  @Test
  void aSlowSubscriberLosesEventsAndThePublisherDoesNotWait() throws InterruptedException {
    var begun = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    var heard = new Heard<EventEnvelope>();
    plane.subscribe(
        SUBJECT,
        event -> {
          begun.countDown();
          try {
            assertThat(release.await(20, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
          }
          heard.accept(event);
        });
    var publisher = plane.publisher(SUBJECT);
    publisher.publish(new byte[0]);
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < 10; i++) {
      publisher.publish(new byte[0]);
    }
    assertThat(metrics.counter(LocalEventPlane.DROPPED).value()).isEqualTo(6);

    release.countDown();
    var sequences = new ArrayList<Long>();
    heard.next(5).forEach(event -> sequences.add(event.sequence()));
    assertThat(sequences).containsExactly(0L, 1L, 2L, 3L, 4L);
    publisher.publish(new byte[0]);
    assertThat(heard.next().sequence()).isEqualTo(11);
  }

  @Test
  void receiversOwnTheirPayload() throws InterruptedException {
    var first = new Heard<EventEnvelope>();
    var second = new Heard<EventEnvelope>();
    plane.subscribe(SUBJECT, first);
    plane.subscribe(SUBJECT, second);
    plane.publisher(SUBJECT).publish(new byte[] {1});

    first.next().payload()[0] = 2;

    assertThat(second.next().payload()).containsExactly(1);
  }

  @Test
  void aClosedPlaneRefusesToPublish() {
    var publisher = plane.publisher(SUBJECT);
    plane.close();

    assertThatThrownBy(() -> publisher.publish(new byte[0]))
        .isInstanceOf(IllegalStateException.class);
  }
}
