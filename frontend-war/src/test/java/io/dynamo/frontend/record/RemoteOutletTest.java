package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RemoteOutletTest {
  private static final long LIMIT = 30;
  private static final RemoteOutlet.Patience SHORT =
      new RemoteOutlet.Patience(Duration.ofMillis(1), Duration.ofSeconds(30));

  private final Metrics metrics = new Metrics();
  private final Server server = new Server();

  /** A server that fails a given number of times. */
  private static final class Server implements Destination {
    volatile boolean exhausted;
    final BlockingQueue<List<String>> batches = new LinkedBlockingQueue<>();
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch closed = new CountDownLatch(1);
    final AtomicInteger failures = new AtomicInteger();
    volatile boolean hangs;
    volatile int gone;
    volatile Batch batch = new Batch(1 << 20, Duration.ofMillis(1));

    @Override
    public Batch batch() {
      return batch;
    }

    @Override
    public byte[] entry(TraceRecord record, byte[] json) {
      return json;
    }

    @Override
    public int send(List<byte[]> entries) throws IOException, InterruptedException {
      asked.countDown();
      if (exhausted) {
        exhausted = false;
        throw new OutOfMemoryError("of a test");
      }
      if (hangs) {
        new CountDownLatch(1).await();
      }
      if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new IOException("no");
      }
      var texts = new ArrayList<String>();
      entries.forEach(entry -> texts.add(new String(entry, UTF_8)));
      batches.add(texts);
      return gone;
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }

  private RemoteOutlet outlet(int capacity, RemoteOutlet.Patience patience) {
    return new RemoteOutlet("probe", server, capacity, patience, metrics);
  }

  private static void write(RemoteOutlet outlet, String text) {
    outlet.write(TestSinks.payload("id", 1), text.getBytes(UTF_8));
  }

  private long count(MetricName name) {
    return metrics.counter(name, new Label("sink", "probe")).value();
  }

  @Test
  void anErrorOfAnAttemptDoesNotEndTheSender() throws InterruptedException {
    server.exhausted = true;
    var outlet = outlet(10, SHORT);
    write(outlet, "a");

    assertThat(server.batches.poll(LIMIT, TimeUnit.SECONDS)).containsExactly("a");
    outlet.close();
  }

  @Test
  void aRecordOfMoreBytesThanMayWaitIsTakenAlone() throws InterruptedException {
    server.batch = new Destination.Batch(1, Duration.ZERO);
    var outlet = outlet(10, SHORT);
    var large = "x".repeat(9 << 20);
    write(outlet, large);

    assertThat(server.batches.poll(LIMIT, TimeUnit.SECONDS)).containsExactly(large);
    outlet.close();
  }

  @Test
  void theLastRecordsAreSentBeforeTheClose() throws InterruptedException {
    server.batch = new Destination.Batch(1 << 20, Duration.ofHours(1));
    var outlet = outlet(100, SHORT);
    for (int i = 0; i < 50; i++) {
      write(outlet, "r" + i);
    }

    outlet.close();

    assertThat(server.batches.stream().flatMap(List::stream).toList())
        .hasSize(50)
        .startsWith("r0")
        .endsWith("r49");
    assertThat(count(RecordMetrics.WRITTEN)).isEqualTo(50);
    assertThat(server.closed.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    write(outlet, "late");
    assertThat(count(RecordMetrics.LOST)).isEqualTo(1);
  }

  @Test
  void aFullBatchWaitsForNoTime() throws InterruptedException {
    server.batch = new Destination.Batch(4, Duration.ofHours(1));
    var outlet = outlet(100, SHORT);

    write(outlet, "ab");
    write(outlet, "cd");

    assertThat(server.batches.poll(LIMIT, TimeUnit.SECONDS)).containsExactly("ab", "cd");
    outlet.close();
  }

  @Test
  void aBatchIsTriedAgain() throws InterruptedException {
    server.failures.set(2);
    var outlet = outlet(100, SHORT);

    write(outlet, "a");

    assertThat(server.batches.poll(LIMIT, TimeUnit.SECONDS)).containsExactly("a");
    outlet.close();
    assertThat(count(RecordMetrics.LOST)).isZero();
  }

  @Test
  void aBatchThatIsNeverTakenIsLostAndCounted() throws InterruptedException {
    server.failures.set(3);
    server.batch = new Destination.Batch(1, Duration.ZERO);
    var outlet = outlet(100, SHORT);

    write(outlet, "a");
    write(outlet, "b");

    assertThat(server.batches.poll(LIMIT, TimeUnit.SECONDS)).containsExactly("b");
    outlet.close();
    assertThat(count(RecordMetrics.LOST)).isEqualTo(1);
    assertThat(count(RecordMetrics.WRITTEN)).isEqualTo(1);
  }

  @Test
  void entriesThatTheServerRefusesAreLost() throws InterruptedException {
    server.gone = 1;
    var outlet = outlet(100, SHORT);
    write(outlet, "a");
    outlet.close();

    assertThat(count(RecordMetrics.LOST)).isEqualTo(1);
    assertThat(count(RecordMetrics.WRITTEN)).isZero();
  }

  @Test
  void aServerThatHangsHoldsBoundedRecordsAndEndsWithTheOutlet() throws InterruptedException {
    server.hangs = true;
    server.batch = new Destination.Batch(1, Duration.ZERO);
    var outlet = outlet(2, new RemoteOutlet.Patience(Duration.ofMillis(1), Duration.ofMillis(1)));
    write(outlet, "a");
    assertThat(server.asked.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < 10; i++) {
      write(outlet, "b");
    }
    assertThat(count(RecordMetrics.LOST)).isEqualTo(7);

    outlet.close();

    assertThat(server.closed.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    assertThat(count(RecordMetrics.LOST)).isEqualTo(11);
  }

  @Test
  void recordsTakeBoundedMemory() throws InterruptedException {
    server.hangs = true;
    var outlet =
        outlet(1000, new RemoteOutlet.Patience(Duration.ofMillis(1), Duration.ofMillis(1)));
    var large = "x".repeat(1 << 20);
    for (int i = 0; i < 20; i++) {
      write(outlet, large);
    }

    assertThat(count(RecordMetrics.LOST)).isEqualTo(12);
    outlet.close();
    assertThat(server.closed.await(LIMIT, TimeUnit.SECONDS)).isTrue();
  }
}
