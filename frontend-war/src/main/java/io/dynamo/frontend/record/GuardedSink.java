package io.dynamo.frontend.record;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A sink whose failures are counted: what it cannot take is lost, and for a while after a failure
 * nothing is tried. For one thread.
 */
final class GuardedSink implements RecordOutlet {
  private static final System.Logger LOG = System.getLogger(GuardedSink.class.getName());

  private final String name;
  private final RecordSink sink;
  private final long pauseNanos;
  private final Metrics.Counter written;
  private final Metrics.Counter lost;
  private long unwritten; // since the last flush
  private boolean failed;
  private long failedNanos;

  /**
   * @param pause after a failure
   */
  GuardedSink(String name, RecordSink sink, Duration pause, Metrics metrics) {
    this.name = name;
    this.sink = sink;
    this.pauseNanos = pause.toNanos();
    this.written = metrics.counter(RecordMetrics.WRITTEN, new Label("sink", name));
    this.lost = metrics.counter(RecordMetrics.LOST, new Label("sink", name));
  }

  @Override
  public void write(TraceRecord record, byte[] json) {
    if (failed && System.nanoTime() - failedNanos < pauseNanos) {
      lost.increment();
      return;
    }
    unwritten++;
    try {
      sink.write(json);
    } catch (IOException | RuntimeException e) {
      fail(e);
    }
  }

  @Override
  public void flush() {
    if (unwritten == 0) {
      return;
    }
    try {
      sink.flush();
      written.add(unwritten);
      unwritten = 0;
      if (failed) {
        failed = false;
        LOG.log(Level.INFO, "records of requests are written again to {0}", name);
      }
    } catch (IOException | RuntimeException e) {
      fail(e);
    }
  }

  private void fail(Exception cause) {
    lost.add(unwritten);
    unwritten = 0;
    if (!failed) {
      LOG.log(
          Level.WARNING,
          "records of requests are lost, since the sink {0} cannot be written; it is tried again"
              + " every {1} s: {2}",
          name,
          TimeUnit.NANOSECONDS.toSeconds(pauseNanos),
          cause.toString());
    }
    failed = true;
    failedNanos = System.nanoTime();
    sink.abandon();
  }

  @Override
  public void end() {}

  @Override
  public void close() {
    flush();
    try {
      sink.close();
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.DEBUG, "a sink of records could not be closed", e);
    }
  }
}
