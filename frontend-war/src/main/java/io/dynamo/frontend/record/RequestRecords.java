package io.dynamo.frontend.record;

import io.dynamo.config.key.SettingType;
import io.dynamo.config.watch.RequestTraceSettings;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.metrics.Metrics;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Writes a record of each finished generation, on a thread of its own, so that no request waits for
 * a disk. When too many records wait, further ones are lost and counted. Safe for concurrent use.
 */
public final class RequestRecords implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RequestRecords.class.getName());
  private static final Duration LAST_WRITES = Duration.ofSeconds(2);
  private static final long MAX_BYTES = 64 << 20; // of memory, for records that wait
  private static final Duration PAUSE = Duration.ofSeconds(10);

  /** Writes none. */
  public static final RequestRecords OFF =
      new RequestRecords(List.of(), 1, Duration.ofSeconds(1), new Metrics());

  private final List<GuardedSink> sinks;
  private final BlockingQueue<RequestRecord> waiting;
  private final AtomicLong waitingBytes = new AtomicLong();
  private final long flushNanos;
  private final Metrics.Counter lost;
  private final @Nullable Thread writer;
  private volatile boolean closed;

  /** Opens the sinks that the settings name; a file is created with the first record. */
  public static RequestRecords open(RequestTraceSettings settings, Metrics metrics) {
    if (settings.sinks().isEmpty()) {
      return OFF;
    }
    var sinks = new ArrayList<GuardedSink>();
    for (var kind : settings.sinks()) {
      var sink =
          switch (kind) {
            case FILE -> new RollingFiles(settings);
            case STDERR -> new StreamSink(new FileOutputStream(FileDescriptor.err));
          };
      sinks.add(new GuardedSink(SettingType.choice(kind), sink, PAUSE, metrics));
    }
    return new RequestRecords(sinks, settings.capacity(), settings.flushInterval(), metrics);
  }

  RequestRecords(List<GuardedSink> sinks, int capacity, Duration flushInterval, Metrics metrics) {
    this.sinks = List.copyOf(sinks);
    this.waiting = new ArrayBlockingQueue<>(capacity);
    this.flushNanos = flushInterval.toNanos();
    this.lost = metrics.counter(RecordMetrics.QUEUE_LOST);
    this.writer =
        sinks.isEmpty()
            ? null
            : Thread.ofPlatform().name("dynamo-request-trace").daemon().unstarted(this::run);
    if (writer != null) {
      writer.start();
    }
  }

  /** Whether records are written. */
  public boolean isOn() {
    return writer != null;
  }

  /** Writes a record, soon; never waits. */
  public void add(RequestRecord record) {
    if (!isOn()) {
      return;
    }
    long bytes = record.bytes();
    if (waitingBytes.addAndGet(bytes) > MAX_BYTES || closed || !waiting.offer(record)) {
      waitingBytes.addAndGet(-bytes);
      lost.increment();
    }
  }

  private void run() {
    var json = new ByteText(4096);
    boolean dirty = false;
    long flushNanoTime = 0;
    while (true) {
      RequestRecord next = null;
      try {
        long wait = dirty ? Math.max(0, flushNanoTime - System.nanoTime()) : Long.MAX_VALUE;
        next = waiting.poll(closed ? 0 : wait, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        closed = true; // nobody interrupts it but close
      }
      if (next != null) {
        waitingBytes.addAndGet(-next.bytes());
        json.clear();
        next.appendTo(json);
        var line = json.toByteArray();
        sinks.forEach(sink -> sink.write(line));
        if (!dirty) {
          dirty = true;
          flushNanoTime = System.nanoTime() + flushNanos;
        }
      }
      if (dirty && (System.nanoTime() - flushNanoTime >= 0 || (closed && waiting.isEmpty()))) {
        sinks.forEach(GuardedSink::flush);
        dirty = false;
      }
      if (closed && next == null && waiting.isEmpty()) {
        break;
      }
    }
    sinks.forEach(GuardedSink::close);
  }

  /** Writes the records that wait, for a few seconds at most. Idempotent. */
  @Override
  public void close() {
    closed = true;
    var thread = writer;
    if (thread == null) {
      return;
    }
    thread.interrupt();
    try {
      if (!thread.join(LAST_WRITES)) {
        LOG.log(Level.WARNING, "records of requests were not written within {0}", LAST_WRITES);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
