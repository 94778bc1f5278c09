package io.dynamo.event.zmq;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import java.time.InstantSource;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Events from one publisher to one listener over a loopback connection, none lost. */
@NullUnmarked // JMH fills the fields before it measures
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class ZmqEventPlaneBenchmark {
  private static final int EVENTS = 1_000; // below every bound on the way
  private static final EventSubject SUBJECT =
      new EventSubject(new EndpointId("dynamo", "backend", "generate"), "kv-events");

  @Param({"150", "8192"})
  int payloadBytes;

  private final AtomicLong heard = new AtomicLong();
  private EventLoops loops;
  private MemoryDiscovery discovery;
  private ZmqEventPlane plane;
  private EventPlane.Publisher publisher;
  private byte[] payload;

  @Setup
  public void connect() {
    loops = new EventLoops(2);
    discovery = new MemoryDiscovery(new MemoryStore(), new InstanceId(1));
    var settings =
        new EventSettings(
            EventSettings.Plane.ZMQ, "127.0.0.1", null, 100_000, 1 << 28, 100_000, 16 << 20, null);
    plane =
        new ZmqEventPlane(
            discovery, settings, loops, new Metrics(), new Random(1), InstantSource.system());
    payload = new byte[payloadBytes];
    plane.subscribe(SUBJECT, _ -> heard.incrementAndGet());
    publisher = plane.publisher(SUBJECT);
    while (heard.get() == 0) {
      publisher.publish(payload);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(500)); // the last of those
  }

  @Benchmark
  @OperationsPerInvocation(EVENTS)
  public long publishAndHear() {
    long all = heard.get() + EVENTS;
    for (int i = 0; i < EVENTS; i++) {
      publisher.publish(payload);
    }
    while (heard.get() < all) {
      Thread.onSpinWait();
    }
    return all;
  }

  @TearDown
  public void close() {
    plane.close();
    discovery.close();
    loops.close();
  }
}
