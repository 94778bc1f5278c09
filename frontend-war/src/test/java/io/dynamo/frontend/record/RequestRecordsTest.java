package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.Usage;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestRecordsTest {
  private static final Duration SHORT = Duration.ofMillis(1);

  private static final Payload.Rules RULES = new Payload.Rules(Set.of("x-team", "cookie"), 1000);

  private final Metrics metrics = new Metrics();
  private final List<String> written = new CopyOnWriteArrayList<>();
  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch release = new CountDownLatch(1);
  private volatile boolean hangs;
  private volatile boolean unexpectedly;
  private volatile boolean interrupted;
  private final AtomicInteger failures = new AtomicInteger();

  /** Notes what it is given; hangs or fails on demand. */
  private final class Probe implements RecordSink {
    @Override
    public void write(byte[] record) throws IOException {
      entered.countDown();
      if (hangs) {
        awaitRelease();
      }
      if (failures.getAndUpdate(it -> Math.max(0, it - 1)) > 0) {
        if (unexpectedly) {
          throw new IllegalStateException("broken");
        }
        throw new IOException("full");
      }
      written.add(new String(record, UTF_8));
    }

    private void awaitRelease() {
      while (true) {
        try {
          if (!release.await(30, TimeUnit.SECONDS)) {
            throw new AssertionError("never released");
          }
          return;
        } catch (InterruptedException e) {
          interrupted = true; // of close, while it hangs
        }
      }
    }

    @Override
    public void flush() {}

    @Override
    public void abandon() {}

    @Override
    public void close() {}
  }

  @Test
  void anErrorOfOneRecordDoesNotEndTheWriter() {
    var broken = new AtomicBoolean(true);
    var taken = new CopyOnWriteArrayList<byte[]>();
    var outlet =
        new RecordOutlet() {
          @Override
          public void write(TraceRecord record, byte[] json) {
            if (broken.getAndSet(false)) {
              throw new OutOfMemoryError("of a test");
            }
            taken.add(json);
          }

          @Override
          public void flush() {}

          @Override
          public void end() {}

          @Override
          public void close() {}
        };
    var records =
        new RequestRecords(
            List.of(outlet), 10, SHORT, new RequestRecords.Kinds(true, RULES), metrics);
    records.add(record("a", 0));
    records.add(record("b", 0));
    records.close();

    assertThat(taken).hasSize(1);
  }

  private RequestRecords records(int capacity, Duration pause) {
    var sink = new GuardedSink("probe", new Probe(), pause, metrics);
    return new RequestRecords(
        List.of(sink), capacity, SHORT, new RequestRecords.Kinds(true, RULES), metrics);
  }

  private static RequestRecord record(String id, int hashes) {
    var worker = new Placement.Worker(1, 0);
    return new RequestRecord(
        id,
        null,
        "tiny",
        Map.of(),
        new RequestRecord.Moments(0, 1, 2),
        -1,
        new Usage(1, 0, null),
        new Placement(0, 0, 0, worker, worker, new Placement.Prompt(1, 1, new long[hashes])));
  }

  private long lost() {
    return metrics.counter(RecordMetrics.LOST, new Label("sink", "probe")).value();
  }

  @Test
  void recordsAreWrittenInOrderBeforeTheClose() {
    var records = records(100, SHORT);
    for (int i = 0; i < 50; i++) {
      records.add(record("id-" + i, 1));
    }
    records.close();

    assertThat(written).hasSize(50);
    assertThat(written.get(49)).contains("id-49");
    assertThat(metrics.counter(RecordMetrics.WRITTEN, new Label("sink", "probe")).value())
        .isEqualTo(50);
    records.add(record("late", 1));
    assertThat(metrics.counter(RecordMetrics.QUEUE_LOST).value()).isOne();
  }

  @Test
  void recordsBeyondTheQueueAreLostAndNobodyWaits() throws InterruptedException {
    hangs = true;
    var records = records(4, SHORT);
    records.add(record("first", 1));
    assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < 10; i++) {
      records.add(record("more", 1));
    }
    assertThat(metrics.counter(RecordMetrics.QUEUE_LOST).value()).isEqualTo(6);
    release.countDown();
    records.close();

    assertThat(written).hasSize(5);
  }

  @Test
  void memoryOfWaitingRecordsIsBounded() throws InterruptedException {
    hangs = true;
    var records = records(1000, SHORT);
    records.add(record("first", 1));
    assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < 100; i++) {
      records.add(record("large", 1 << 20)); // 8 MiB
    }
    release.countDown();

    assertThat(metrics.counter(RecordMetrics.QUEUE_LOST).value()).isBetween(92L, 94L);
    records.close();
  }

  @Test
  void failingSinkLosesRecordsForAWhileOnly() {
    failures.set(1);
    var records = records(100, Duration.ofHours(1));
    records.add(record("a", 1));
    records.add(record("b", 1));
    records.close();
    assertThat(lost()).isEqualTo(2);
    assertThat(written).isEmpty();

    failures.set(1);
    var others = records(100, Duration.ZERO);
    others.add(record("a", 1));
    others.add(record("b", 1));
    others.close();
    assertThat(lost()).isEqualTo(3);
    assertThat(written).hasSize(1);
  }

  @Test
  void aSinkThatFailsUnexpectedlyIsTriedAgain() {
    failures.set(1);
    unexpectedly = true;
    var records = records(100, Duration.ZERO);
    records.add(record("a", 1));
    records.add(record("b", 1));
    records.close();

    assertThat(lost()).isOne();
    assertThat(written).hasSize(1);
  }

  @Test
  void anAnswerThatIsGivenUpKeepsNoMemory() {
    var records = records(100, SHORT);
    var most = Objects.requireNonNull(records.openPayload(Map.of()));
    assertThat(most.grow(60 << 20, 1)).isTrue();
    var other = Objects.requireNonNull(records.openPayload(Map.of()));
    assertThat(other.grow(60 << 20, 1)).isFalse();

    most.gathered();

    assertThat(other.grow(60 << 20, 1)).isTrue();
    records.add(record("ends are recorded meanwhile", 1));
    other.end("id", "completions", null, 0, false);
    records.close();
    assertThat(written).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "x-team, blue, blue",
    "authorization, Bearer a, [masked]",
    "x-amz-security-token, a, [masked]",
    "x-goog-api-key, a, [masked]",
    "x-team, Bearer a, [masked]"
  })
  void credentialsAreMasked(String name, String value, String shown) {
    var sink = new GuardedSink("probe", new Probe(), SHORT, metrics);
    var kinds = new RequestRecords.Kinds(false, new Payload.Rules(Set.of(name), 1000));
    try (var records = new RequestRecords(List.of(sink), 10, SHORT, kinds, metrics)) {
      var payload = Objects.requireNonNull(records.openPayload(Map.of(name, value)));
      payload.generated();
      payload.end("id", "completions", "tiny", 0, false);
    }

    assertThat(written).singleElement().asString().contains("\"" + name + "\":\"" + shown + "\"");
  }

  @Test
  void closingDoesNotInterruptAWrite() throws InterruptedException {
    hangs = true;
    var records = records(4, SHORT);
    records.add(record("a", 1));
    assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
    var closing = Thread.ofVirtual().start(records::close);
    while (closing.getState() == Thread.State.NEW || closing.getState() == Thread.State.RUNNABLE) {
      Thread.onSpinWait();
    }
    release.countDown();
    assertThat(closing.join(Duration.ofSeconds(30))).isTrue();

    assertThat(written).hasSize(1);
    assertThat(interrupted).isFalse();
  }

  @Test
  void nothingIsWrittenWhereItIsOff() {
    RequestRecords.OFF.add(record("a", 1));

    assertThat(RequestRecords.OFF.takesEnds()).isFalse();
    RequestRecords.OFF.close();
  }
}
