package io.dynamo.event.zmq;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One thread that owns sockets: it runs the tasks given to it, and reads what is ready. A look at
 * thousands of idle sockets costs nothing: the library signals each by a channel, and only those
 * that have signalled are read.
 *
 * <p>Tasks must be few: one at a time per publisher, one per change of discovery.
 */
final class SocketLoop {
  /** Something to read from. Called on the loop's thread only. */
  interface Source extends AutoCloseable {
    /** Reads a part of what is there; returns whether there may be more. */
    boolean read();

    @Override
    void close();
  }

  /** A task of a later time. */
  private record Later(long dueNanos, Runnable task) implements Comparable<Later> {
    @Override
    public int compareTo(Later other) {
      return Long.signum(dueNanos - other.dueNanos); // the clock may wrap
    }
  }

  private static final System.Logger LOG = System.getLogger(SocketLoop.class.getName());

  private final Selector selector;
  private final Thread thread;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Set<AutoCloseable> owned = new LinkedHashSet<>(); // this and below: by thread only
  private final ArrayDeque<Source> busy = new ArrayDeque<>(); // to be read without waiting
  private final PriorityQueue<Later> later = new PriorityQueue<>();
  private volatile boolean ended;

  SocketLoop(String name) {
    try {
      this.selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException("no selector for " + name, e);
    }
    this.thread =
        Thread.ofPlatform()
            .daemon()
            .inheritInheritableThreadLocals(false)
            .name(name)
            .start(this::run);
  }

  /** Runs {@code task} soon; not at all once the loop has ended. */
  void execute(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  /** Runs {@code task} after {@code delay}; for tasks of this loop only. */
  void executeAfter(Duration delay, Runnable task) {
    later.add(new Later(System.nanoTime() + delay.toNanos(), task));
  }

  /**
   * Runs {@code task} and waits for it.
   *
   * @param undo takes back what the task made when nobody waits for it any more; on the loop
   * @throws IllegalStateException when it takes longer than {@code patience}, or the wait is
   *     interrupted
   */
  <T> T call(Supplier<T> task, Duration patience, Consumer<T> undo) {
    var result = new CompletableFuture<T>();
    execute(
        () -> {
          if (result.isDone()) {
            return; // given up before it began
          }
          try {
            var made = task.get();
            if (!result.complete(made)) {
              undo.accept(made);
            }
          } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
          }
        });
    try {
      return result.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failed) {
        throw failed;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      if (!result.cancel(false) && !result.isCompletedExceptionally()) {
        return result.join(); // it came at the last moment
      }
      throw new IllegalStateException(
          thread.getName() + " has not answered within " + patience.toMillis() + " ms", e);
    } catch (InterruptedException e) {
      if (!result.cancel(false) && !result.isCompletedExceptionally()) {
        var made = result.join();
        execute(() -> undo.accept(made));
      }
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + thread.getName(), e);
    }
  }

  /** Closes {@code part} when the loop ends, unless it is disowned before. */
  void own(AutoCloseable part) {
    owned.add(part);
  }

  /** Reads {@code source} now, and again whenever {@code signal} is readable. */
  void own(Source source, SelectableChannel signal) {
    try {
      signal.register(selector, SelectionKey.OP_READ, source);
    } catch (ClosedChannelException e) {
      throw new UncheckedIOException(e);
    }
    owned.add(source);
    busy.add(source);
  }

  /** The end of {@link #own(Source, SelectableChannel)}, before the socket is closed. */
  void disown(Source source, SelectableChannel signal) {
    owned.remove(source);
    busy.remove(source);
    var key = signal.keyFor(selector);
    if (key != null) {
      key.cancel();
    }
  }

  /** The end of {@link #own(AutoCloseable)}. */
  void disown(AutoCloseable part) {
    owned.remove(part);
  }

  /** Closes what the loop owns and lets its thread end. */
  void end() {
    ended = true;
    selector.wakeup();
  }

  /** Waits for the end; returns whether it came. */
  boolean join(Duration patience) throws InterruptedException {
    return thread.join(patience);
  }

  private void run() {
    try (selector) {
      while (!ended) {
        runTasks();
        readBusy();
        select();
      }
      Set.copyOf(owned).forEach(part -> safely(() -> close(part)));
      selector.selectNow(); // lets go of the channels
    } catch (IOException e) {
      LOG.log(Level.ERROR, thread.getName() + " has failed; no more events", e);
    }
  }

  private void runTasks() {
    for (var task = tasks.poll(); task != null; task = tasks.poll()) {
      safely(task);
    }
    for (var next = later.peek();
        next != null && next.dueNanos - System.nanoTime() <= 0;
        next = later.peek()) {
      later.remove();
      safely(next.task);
    }
  }

  /** Each source once: one that never runs dry keeps nobody else from being read. */
  private void readBusy() {
    for (int turn = busy.size(); turn > 0; turn--) {
      var source = busy.poll();
      if (source != null) {
        safely(
            () -> {
              if (source.read()) {
                busy.add(source);
              }
            });
      }
    }
  }

  private void select() throws IOException {
    var next = later.peek();
    if (!busy.isEmpty() || !tasks.isEmpty()) {
      selector.selectNow();
    } else if (next == null) {
      selector.select();
    } else {
      // a millisecond too late at most: 0 would be for ever
      selector.select(
          1 + TimeUnit.NANOSECONDS.toMillis(Math.max(0, next.dueNanos - System.nanoTime())));
    }
    for (var key : selector.selectedKeys()) {
      var source = (Source) key.attachment();
      if (key.isValid() && !busy.contains(source)) {
        busy.add(source);
      }
    }
    selector.selectedKeys().clear();
  }

  private static void close(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void safely(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, thread.getName() + " goes on after a failure", e);
    }
  }
}
