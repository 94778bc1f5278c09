package io.dynamo.event.zmq;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.TestSettings;
import java.time.InstantSource;
import java.util.Map;
import java.util.Random;

/** Processes on one discovery, with planes of bounded queues and messages. */
final class ZmqProcesses implements AutoCloseable {
  /** Of all tests in this package. */
  static final EventLoops LOOPS = new EventLoops(2);

  /** Events that a subscription holds. */
  private final int capacity;

  private final MemoryStore store = new MemoryStore();
  private final Discovery discovery = new MemoryDiscovery(store, new InstanceId(99));
  private final Random random = new Random(1);
  private long processes;

  ZmqProcesses(int capacity) {
    this.capacity = capacity;
  }

  /** Returns the discovery of a process that has no plane. */
  Discovery discovery() {
    return discovery;
  }

  /** Another process. */
  EventPlane join(Metrics metrics, InstantSource clock) {
    var settings =
        TestSettings.with(
                Map.of(
                    "dynamo.event.queue-capacity",
                    String.valueOf(capacity),
                    "dynamo.event.zmq.max-message",
                    "1MiB"))
            .event();
    return new ZmqEventPlane(
        new MemoryDiscovery(store, new InstanceId(++processes)),
        settings,
        LOOPS,
        metrics,
        random,
        clock);
  }

  /** Tells of a publisher on loopback. */
  Discovery.Handle announce(EventSubject subject, long publisherId, int port) {
    return discovery.register(
        new EventChannel(
            subject.scope(),
            subject.topic(),
            publisherId,
            new EventTransport.Zmq("tcp://127.0.0.1:" + port)));
  }

  @Override
  public void close() {
    discovery.close();
  }
}
