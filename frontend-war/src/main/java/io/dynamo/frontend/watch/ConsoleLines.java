package io.dynamo.frontend.watch;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes lines to the console on a thread of its own, so that nobody waits for a console that is
 * read slowly; those of a few milliseconds go out in one write. When too many lines wait, further
 * ones are dropped, and a line tells their number. Safe for concurrent use.
 */
public final class ConsoleLines implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ConsoleLines.class.getName());
  private static final int CAPACITY = 4096;
  private static final long LAST_LINES_MILLIS = 1000; // that close waits for
  private static final long GATHERING_MILLIS = 20; // from a line to the write that it leaves in
  private static final String END = ""; // no line is empty

  private final OutputStream console;
  private final BlockingQueue<String> waiting;
  private final AtomicLong dropped = new AtomicLong();
  private final Thread writer;

  public ConsoleLines(OutputStream console) {
    this(console, CAPACITY);
  }

  ConsoleLines(OutputStream console, int capacity) {
    this.console = console;
    this.waiting = new ArrayBlockingQueue<>(capacity);
    this.writer =
        Thread.ofPlatform().name("dynamo-console").daemon().unstarted(this::writeUntilClosed);
    writer.start();
  }

  /** Writes one line, soon. */
  void write(String line) {
    if (!waiting.offer(line)) {
      dropped.incrementAndGet();
    }
  }

  private void writeUntilClosed() {
    var batch = new ArrayList<String>();
    var text = new StringBuilder();
    try {
      boolean open = true;
      while (open) {
        batch.add(waiting.take());
        if (!batch.getFirst().equals(END)) {
          Thread.sleep(GATHERING_MILLIS);
        }
        waiting.drainTo(batch, CAPACITY);
        for (var line : batch) {
          if (line.equals(END)) {
            open = false;
          } else {
            text.append(line).append('\n');
          }
        }
        long lost = dropped.getAndSet(0);
        if (lost > 0) {
          text.append(lost)
              .append(" lines of requests were dropped: the console is read too slowly\n");
        }
        console.write(text.toString().getBytes(StandardCharsets.UTF_8));
        console.flush();
        batch.clear();
        text.setLength(0);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      LOG.log(Level.WARNING, "requests leave no lines on the console any more: {0}", e.toString());
    }
  }

  /** Writes the lines that wait, for a second at most, and stops. */
  @Override
  public void close() {
    try {
      if (!waiting.offer(END, LAST_LINES_MILLIS, TimeUnit.MILLISECONDS)
          || !writer.join(Duration.ofMillis(LAST_LINES_MILLIS))) {
        writer.interrupt();
      }
    } catch (InterruptedException e) {
      writer.interrupt();
      Thread.currentThread().interrupt();
    }
  }
}
