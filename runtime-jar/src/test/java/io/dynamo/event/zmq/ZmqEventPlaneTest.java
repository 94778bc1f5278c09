package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.event.Ear;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventPlaneContract;
import io.dynamo.testing.Recorder;
import io.dynamo.wire.event.EventEnvelope;
import java.util.ArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;

class ZmqEventPlaneTest extends EventPlaneContract {
  private final ZmqProcesses processes = new ZmqProcesses(CAPACITY);

  @Override
  protected EventPlane join() {
    return processes.join(metrics, clock);
  }

  @AfterEach
  void closeProcesses() {
    processes.close();
  }

  @Test
  void aPublisherIsFoundThroughDiscoveryUntilItCloses() throws InterruptedException {
    var channels = new Recorder<DiscoveryEvent<EventChannel>>();
    processes.discovery().watch(EventChannel.class, channels);
    var publisher = joined().publisher(SUBJECT);

    var record = ((DiscoveryEvent.Added<EventChannel>) channels.next()).record();
    assertThat(record.publisherId()).isEqualTo(publisher.id());
    assertThat(record.scope()).isEqualTo(SUBJECT.scope());
    assertThat(record.topic()).isEqualTo("kv-events");
    assertThat(record.transport())
        .isInstanceOfSatisfying(
            EventTransport.Zmq.class,
            zmq -> assertThat(zmq.endpoint()).matches("tcp://127\\.0\\.0\\.1:[1-9]\\d*"));

    publisher.close();
    assertThat(channels.next()).isEqualTo(new DiscoveryEvent.Lost<>(record));
  }

  @Test
  void aClosedPlaneLeavesNothingInDiscovery() throws InterruptedException {
    var channels = new Recorder<DiscoveryEvent<EventChannel>>();
    processes.discovery().watch(EventChannel.class, channels);
    var plane = joined();
    plane.publisher(SUBJECT);
    plane.publisher(SUBJECT);
    channels.next(2);

    plane.close();

    assertThat(channels.next(2)).allMatch(DiscoveryEvent.Lost.class::isInstance);
  }

  @Test
  void threeHundredPublishersShareTheThreads() throws InterruptedException {
    var plane = joined();
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var first = plane.publisher(SUBJECT);
    ear.connectTo(first);
    int before = Thread.getAllStackTraces().size();
    var publishers = new ArrayList<EventPlane.Publisher>();
    for (int i = 0; i < 300; i++) {
      publishers.add(plane.publisher(SUBJECT));
    }
    for (var publisher : publishers) {
      ear.connectTo(publisher);
    }

    publishers.forEach(publisher -> publisher.publish(new byte[] {1}));

    assertThat(ear.next(300))
        .extracting(EventEnvelope::publisherId)
        .containsExactlyInAnyOrderElementsOf(
            publishers.stream().map(EventPlane.Publisher::id).toList());
    // virtual threads may want some carriers more
    assertThat(Thread.getAllStackTraces().size()).isLessThan(before + 100);
  }

  @Test
  void theLastEventsOfAPublisherAreHeardBeforeItIsLost() throws InterruptedException {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    assertThat(ear.nextOfPublishers()).startsWith("found");
    ear.connectTo(publisher);

    for (int i = 0; i < 700; i++) { // more than one batch
      publisher.publish(new byte[] {1});
    }
    publisher.close();

    assertThat(ear.nextOfPublishers()).isEqualTo("lost " + publisher.id());
    assertThat(ear.rest()).hasSize(700);
  }

  @Test
  void aPublisherThatMovesIsFollowed() throws InterruptedException {
    try (var context = new ZContext()) {
      var ear = new Ear();
      joined().subscribe(SUBJECT, ear);
      var first = context.createSocket(SocketType.PUB);
      var handle = processes.announce(SUBJECT, 7, first.bindToRandomPort("tcp://127.0.0.1"));
      ear.connectTo(new BarePublisher(first, clock));
      var second = context.createSocket(SocketType.PUB);
      handle.close();
      processes.announce(SUBJECT, 7, second.bindToRandomPort("tcp://127.0.0.1"));

      var moved = new BarePublisher(second, clock);
      ear.connectTo(moved);
      moved.publish(new byte[] {2});

      assertThat(ear.next().payload()).containsExactly(2);
    }
  }
}
