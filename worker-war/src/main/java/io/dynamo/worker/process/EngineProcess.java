package io.dynamo.worker.process;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the server of an engine running on a virtual thread of its own: starts it, starts it again
 * when it ends, and ends it with {@link #close}. Any thread may close it.
 *
 * <p>A shell stands between: it puts the server into a process group of its own, and kills that
 * group when its standard input ends, which is when this process ends, however it does.
 */
public final class EngineProcess implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EngineProcess.class.getName());
  private static final Duration KILLED = Duration.ofSeconds(5);
  private static final int NOT_STARTED = 127; // as a shell has it

  /** Its arguments are the command. SIGTERM is passed on; the status is the server's. */
  private static final String SUPERVISOR =
      """
      child= ended=
      signal() { kill -s "$1" -- "-$child" 2>/dev/null || kill -s "$1" "$child" 2>/dev/null; }
      trap 'ended=1; [ -z "$child" ] || signal TERM' TERM
      exec 3<&0 </dev/null
      setsid "$@" 3<&- &
      child=$!
      [ -z "$ended" ] || signal TERM
      { trap - TERM; read -r line <&3; signal KILL; } &
      watcher=$!
      exec 3<&-
      wait "$child"
      status=$?
      while kill -0 "$child" 2>/dev/null; do
        wait "$child"
        status=$?
      done
      kill -s KILL -- "-$child" 2>/dev/null
      kill -s KILL "$watcher" 2>/dev/null
      exit "$status"
      """;

  private final List<String> command;
  private final @Nullable Path log;
  private final Duration stopTimeout;
  private final RestartPace pace;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread = Thread.ofVirtual().name("engine-process").unstarted(this::run);
  private @Nullable Process running; // guarded by this

  /**
   * @param command words of the command, the program first
   * @param log a file to which the server's output is appended; null for this process's own output
   * @param stopTimeout how long the server may take to end before it is killed
   */
  public EngineProcess(List<String> command, @Nullable Path log, Duration stopTimeout) {
    this(command, log, stopTimeout, RestartPace.STANDARD);
  }

  EngineProcess(List<String> command, @Nullable Path log, Duration stopTimeout, RestartPace pace) {
    this.command = List.copyOf(command);
    this.log = log;
    this.stopTimeout = stopTimeout;
    this.pace = pace;
  }

  /** Starts the server, without waiting for it; called once. */
  public void start() {
    thread.start();
  }

  private void run() {
    var wait = Duration.ZERO;
    try {
      while (!isClosed()) {
        long begun = System.nanoTime();
        int status = runOnce();
        if (isClosed()) {
          return;
        }
        var ran = Duration.ofNanos(System.nanoTime() - begun);
        wait = pace.next(wait, ran);
        LOG.log(
            Level.WARNING,
            "the engine''s server {0} ended with status {1} after {2}; it starts again in {3}; see"
                + " {4}",
            command.getFirst(),
            status,
            ran,
            wait,
            log == null ? "this output" : log);
        if (closed.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the thread ends, and the server by its input
    }
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Runs the server to its end, and returns its status. */
  private int runOnce() throws InterruptedException {
    Process started;
    try {
      synchronized (this) {
        if (isClosed()) {
          return 0;
        }
        started = builder().start();
        running = started;
      }
    } catch (IOException e) {
      LOG.log(Level.ERROR, "the engine's server cannot be started", e);
      return NOT_STARTED;
    }
    LOG.log(Level.INFO, "started the engine''s server {0}", command.getFirst());
    try {
      return started.waitFor();
    } finally {
      endInput(started); // where the shell itself was killed, its watcher ends the server
    }
  }

  private ProcessBuilder builder() {
    var words = new ArrayList<>(List.of("sh", "-c", SUPERVISOR, "engine"));
    words.addAll(command);
    var output = log == null ? Redirect.INHERIT : Redirect.appendTo(log.toFile());
    return new ProcessBuilder(words).redirectOutput(output).redirectError(output);
  }

  private static void endInput(Process process) {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "the input of the engine's server was closed already", e);
    }
  }

  /** Ends the server, with all processes of its group, and does not start it again. Idempotent. */
  @Override
  public void close() {
    closed.countDown();
    Process process;
    synchronized (this) {
      process = running;
    }
    if (process == null) {
      return;
    }
    try {
      process.destroy();
      if (!process.waitFor(stopTimeout.toNanos(), TimeUnit.NANOSECONDS)) {
        LOG.log(
            Level.WARNING,
            "the engine''s server {0} did not end within dynamo.worker.process.stop-timeout {1}; it"
                + " is killed",
            command.getFirst(),
            stopTimeout);
        endInput(process);
        if (!process.waitFor(KILLED.toNanos(), TimeUnit.NANOSECONDS)) {
          process.destroyForcibly();
        }
      }
    } catch (InterruptedException e) {
      endInput(process);
      Thread.currentThread().interrupt();
    }
  }
}
