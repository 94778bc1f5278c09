package io.dynamo.cli.cluster;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a process that does not outlive its starter: a shell beside it reads a pipe, and ends the
 * process when the pipe ends. In a session of its own, so that Ctrl-C in the terminal reaches the
 * starter alone, which ends processes in order. Output goes to {@code console.log} of its folder.
 * Safe for concurrent use.
 */
final class GuardedProcess {
  private static final String CONSOLE = "console.log";
  private static final String PID = "pid";
  private static final int TAIL_BYTES = 64 << 10;
  private static final Duration AFTER_KILL = Duration.ofSeconds(10);

  /** Arguments: seconds of grace, file for the process id, command. */
  private static final String GUARD =
      """
      grace=$1 pid=$2
      shift 2
      exec 3<&0
      "$@" </dev/null 3<&- &
      child=$!
      printf '%s\\n' "$child" >"$pid"
      {
        read -r _ <&3
        kill -TERM "$child"
        while [ "$grace" -gt 0 ] && kill -0 "$child"; do
          sleep 1 3<&-
          grace=$((grace - 1))
        done
        kill -KILL "$child"
      } >/dev/null 2>&1 &
      watcher=$!
      exec 3<&-
      trap 'kill -TERM "$child" 2>/dev/null' TERM INT HUP
      wait "$child"
      status=$?
      while kill -0 "$child" 2>/dev/null; do
        wait "$child"
        status=$?
      done
      rm -f "$pid"
      kill "$watcher" 2>/dev/null
      exit "$status"
      """;

  private final Process shell;
  private final Path folder;
  private final Duration grace;
  private final long startedNanos = System.nanoTime();

  private GuardedProcess(Process shell, Path folder, Duration grace) {
    this.shell = shell;
    this.folder = folder;
    this.grace = grace;
  }

  /** Starts the process of {@code plan}; its output is appended to the file of an earlier one. */
  static GuardedProcess start(PartPlan plan) throws IOException {
    Files.createDirectories(plan.folder());
    var command = new ArrayList<>(Programs.find("setsid").map(Path::toString).stream().toList());
    command.addAll(
        List.of(
            "/bin/sh",
            "-c",
            GUARD,
            plan.name(),
            Long.toString(plan.grace().toSeconds()),
            plan.folder().resolve(PID).toString()));
    command.addAll(plan.command());
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().putAll(plan.environment());
    builder.redirectOutput(Redirect.appendTo(plan.folder().resolve(CONSOLE).toFile()));
    return new GuardedProcess(builder.start(), plan.folder(), plan.grace());
  }

  boolean isAlive() {
    return shell.isAlive();
  }

  /** Waits for the end and returns the exit status; 128 and the signal's number after a signal. */
  int awaitEnd() throws InterruptedException {
    return shell.waitFor();
  }

  Duration age() {
    return Duration.ofNanos(System.nanoTime() - startedNanos);
  }

  /** Signals the process to end; does not wait. */
  void stop() {
    try {
      shell.getOutputStream().close();
    } catch (IOException e) {
      shell.destroy(); // the shell hands the signal on
    }
  }

  /** Waits for the end after {@link #stop}; kills the process after the grace. */
  void awaitStop() throws InterruptedException {
    if (!shell.waitFor(grace.plus(AFTER_KILL).toSeconds(), TimeUnit.SECONDS)) {
      shell.descendants().forEach(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
      shell.waitFor(AFTER_KILL.toSeconds(), TimeUnit.SECONDS);
    }
  }

  Path console() {
    return folder.resolve(CONSOLE);
  }

  /** Returns the last lines that it printed. */
  List<String> lastLines(int most) {
    try (var file = new RandomAccessFile(console().toFile(), "r")) {
      long from = Math.max(0, file.length() - TAIL_BYTES);
      file.seek(from);
      var bytes = new byte[(int) (file.length() - from)];
      file.readFully(bytes);
      var lines = new String(bytes, StandardCharsets.UTF_8).lines().toList();
      return lines.subList(Math.max(0, lines.size() - most), lines.size());
    } catch (IOException e) {
      return List.of("(its log cannot be read: " + e + ")");
    }
  }
}
