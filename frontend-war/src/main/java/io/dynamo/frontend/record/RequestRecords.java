package io.dynamo.frontend.record;

import io.dynamo.config.key.SettingType;
import io.dynamo.config.plane.NatsSettings;
import io.dynamo.config.watch.RecordSinkSettings;
import io.dynamo.config.watch.RequestTraceSettings;
import io.dynamo.config.watch.RequestTraceSettings.Kind;
import io.dynamo.config.watch.ToolEventSettings;
import io.dynamo.config.watch.TraceSettings;
import io.dynamo.event.RawStreams;
import io.dynamo.event.RawStreams.RawSubscription;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.metrics.Metrics;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Writes records of finished generations and of the tools that programs report, on a thread of its
 * own, so that no request waits for a disk. When too many records wait, further ones are lost and
 * counted. Safe for concurrent use.
 */
public final class RequestRecords implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RequestRecords.class.getName());
  private static final Duration LAST_WRITES = Duration.ofSeconds(5);
  private static final long MAX_BYTES =
      64 << 20; // of memory: for records that wait, and for growing
  private static final Duration PAUSE = Duration.ofSeconds(10);

  /** Writes none. */
  public static final RequestRecords OFF =
      new RequestRecords(
          List.of(), 1, Duration.ofSeconds(1), new Kinds(false, null), new Metrics());

  /**
   * The kinds of records that are written.
   *
   * @param ends whether those without texts are
   * @param payloads of requests and answers; null when they are not
   */
  record Kinds(boolean ends, Payload.@Nullable Rules payloads) {
    static Kinds of(RequestTraceSettings settings) {
      return new Kinds(
          settings.records().contains(Kind.REQUEST_END),
          settings.records().contains(Kind.REQUEST_PAYLOAD)
              ? new Payload.Rules(settings.headers(), settings.maxPayloadBytes())
              : null);
    }
  }

  /** Wakes the writer; is not written. */
  private static final TraceRecord WAKE =
      new PayloadRecord("", "", "", null, null, Map.of(), null, 0);

  private final List<RecordOutlet> sinks;
  private final Kinds kinds;
  private final BlockingQueue<TraceRecord> waiting;
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicLong growingBytes = new AtomicLong();
  private final long flushNanos;
  private final Metrics.Counter lost;
  private final @Nullable Thread writer;
  private volatile boolean closed;
  private @Nullable RawSubscription reports; // of tools; set once, before other threads see this

  /**
   * The servers that records may go to.
   *
   * @param trace the form of exports to OpenTelemetry
   */
  public record Servers(NatsSettings nats, TraceSettings trace) {}

  /**
   * Opens the sinks that the settings name. A file is created, and a server connected to, with the
   * first record.
   */
  public static RequestRecords open(
      RequestTraceSettings settings, Servers servers, Metrics metrics) {
    if (settings.sinks().isEmpty()) {
      return OFF;
    }
    var sinks = new ArrayList<RecordOutlet>();
    for (var kind : settings.sinks()) {
      var name = SettingType.choice(kind);
      sinks.add(
          switch (kind) {
            case FILE -> new GuardedSink(name, new RollingFiles(settings), PAUSE, metrics);
            case STDERR ->
                new GuardedSink(
                    name, new StreamSink(new FileOutputStream(FileDescriptor.err)), PAUSE, metrics);
            case NATS, OTEL, S3 ->
                new RemoteOutlet(
                    name,
                    destination(kind, settings.servers(), servers),
                    settings.capacity(),
                    RemoteOutlet.Patience.STANDARD,
                    metrics);
          });
    }
    return new RequestRecords(
        sinks, settings.capacity(), settings.flushInterval(), Kinds.of(settings), metrics);
  }

  private static Destination destination(
      RequestTraceSettings.Sink kind, RecordSinkSettings settings, Servers servers) {
    return switch (kind) {
      case NATS ->
          new NatsDestination(servers.nats(), settings.natsSubject(), NatsDestination.PAUSE);
      case OTEL ->
          new OtelDestination(
              settings.otelEndpoint(), settings.otelMaxPayloadBytes(), servers.trace());
      case S3 ->
          new S3Destination(
              Objects.requireNonNull(settings.s3(), "a checked bucket"),
              Objects.requireNonNullElse(System.getenv("HOSTNAME"), "dynamo"),
              Clock.systemUTC());
      case FILE, STDERR -> throw new IllegalArgumentException(kind + " is no server");
    };
  }

  RequestRecords(
      List<? extends RecordOutlet> sinks,
      int capacity,
      Duration flushInterval,
      Kinds kinds,
      Metrics metrics) {
    this.sinks = List.copyOf(sinks);
    this.kinds = kinds;
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

  /**
   * Takes reports of tools, too, until it is closed. Called once at most.
   *
   * @throws IllegalStateException when their address cannot be bound
   */
  public void takeReports(ToolEventSettings settings, RawStreams streams, Metrics metrics) {
    try {
      reports =
          streams.pull(
              "reports of tools",
              settings.address(),
              ToolEvents.FRAMES,
              ToolEvents.MAX_BYTES,
              metrics.counter(RecordMetrics.REPORTS_REFUSED),
              new ToolEvents(settings.topic(), this::add));
    } catch (IllegalStateException e) {
      throw new IllegalStateException(
          "dynamo.frontend.request-trace.tool-events-endpoint: " + e.getMessage(), e);
    }
  }

  /** Whether ends of generations are recorded. */
  public boolean takesEnds() {
    return writer != null && kinds.ends();
  }

  /**
   * Opens the record of a request and its answer; null when none are written.
   *
   * @param headers of the request, by lower-case name
   */
  public @Nullable Payload openPayload(Map<String, String> headers) {
    var rules = kinds.payloads();
    return writer == null || rules == null ? null : new Payload(this, rules, headers);
  }

  /** Takes memory for a record that grows; returns false when there is no room. */
  boolean hold(long bytes) {
    if (growingBytes.addAndGet(bytes) > MAX_BYTES) {
      growingBytes.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  /** Frees memory of {@link #hold}. */
  void release(long bytes) {
    growingBytes.addAndGet(-bytes);
  }

  /** Writes the record of a generation's end, soon; never waits. */
  public void add(RequestRecord record) {
    if (takesEnds()) {
      offer(record);
    }
  }

  /** Writes the record of a request and its answer, soon; never waits. */
  void add(PayloadRecord record) {
    offer(record);
  }

  /** Writes the record of a tool's use, soon; never waits. */
  void add(ToolRecord record) {
    offer(record);
  }

  private void offer(TraceRecord record) {
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
      TraceRecord next = null;
      try {
        long wait = dirty ? Math.max(0, flushNanoTime - System.nanoTime()) : Long.MAX_VALUE;
        next = waiting.poll(closed ? 0 : wait, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        closed = true; // nobody interrupts it but close, of a writer that hangs
      }
      if (WAKE.equals(next)) {
        next = null;
      }
      if (next != null) {
        waitingBytes.addAndGet(-next.bytes());
        write(next, json);
        if (!dirty) {
          dirty = true;
          flushNanoTime = System.nanoTime() + flushNanos;
        }
      }
      if (dirty && (System.nanoTime() - flushNanoTime >= 0 || (closed && waiting.isEmpty()))) {
        sinks.forEach(RecordOutlet::flush);
        dirty = false;
      }
      if (closed && next == null && waiting.isEmpty()) {
        break;
      }
    }
    sinks.forEach(RecordOutlet::end);
    sinks.stream()
        .filter(sink -> !(sink instanceof RemoteOutlet)) // those may hang
        .forEach(RecordOutlet::close);
    sinks.stream().filter(sink -> sink instanceof RemoteOutlet).forEach(RecordOutlet::close);
  }

  /** Writes a record to all sinks; a failure costs that record alone. */
  private void write(TraceRecord record, ByteText json) {
    try {
      json.clear();
      record.appendTo(json);
      var line = json.toByteArray();
      sinks.forEach(sink -> sink.write(record, line));
    } catch (RuntimeException | Error failure) {
      lost.increment();
      LOG.log(Level.WARNING, "a record of a request is lost", failure);
    }
  }

  /** Writes the records that wait, for a few seconds at most. Idempotent. */
  @Override
  public void close() {
    if (reports != null) {
      reports.close();
    }
    closed = true;
    var thread = writer;
    if (thread == null) {
      return;
    }
    boolean _ = waiting.offer(WAKE); // an interrupt would close the file; a full queue wakes it too
    try {
      if (!thread.join(LAST_WRITES)) {
        thread.interrupt();
        LOG.log(Level.WARNING, "records of requests were not written within {0}", LAST_WRITES);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
