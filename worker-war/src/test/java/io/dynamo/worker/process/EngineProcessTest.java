package io.dynamo.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Starts real children, which report their process ids through a named pipe. */
@Timeout(60)
@EnabledOnOs(OS.LINUX) // which has setsid and /proc
class EngineProcessTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final RestartPace QUICK =
      new RestartPace(Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofHours(1));

  @TempDir private Path folder;
  private Path pipe;

  /** A worker that is killed before it can end its server. */
  static final class Worker {
    private Worker() {}

    public static void main(String[] arguments) throws Exception {
      new EngineProcess(
              script("echo $$ > \"$0\"; exec sleep 600", Path.of(arguments[0])), null, LONG)
          .start();
      Thread.sleep(Duration.ofHours(1)); // until it is killed
    }
  }

  @BeforeEach
  void makePipe() throws Exception {
    pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start().waitFor())
        .isZero();
  }

  private static List<String> script(String text, Path pipe) {
    return List.of("sh", "-c", text, pipe.toString());
  }

  /** Returns what the next child to write into the pipe writes. */
  private List<Long> report() throws IOException {
    return Files.readString(pipe)
        .strip()
        .lines()
        .flatMap(line -> List.of(line.split(" ", -1)).stream())
        .map(Long::valueOf)
        .toList();
  }

  private static boolean isRunning(long pid) throws IOException {
    try {
      var stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z'; // one that nobody has waited for yet
    } catch (IOException _) {
      return false;
    }
  }

  private static void awaitEnd(long pid) throws IOException {
    while (isRunning(pid)) {
      Thread.onSpinWait(); // bounded by the time limit of the tests
    }
  }

  @Test
  void closeEndsTheServerAndItsChildren() throws Exception {
    var process =
        new EngineProcess(script("sleep 600 & echo $$ $! > \"$0\"; wait", pipe), null, LONG, QUICK);
    process.start();
    var pids = report();
    assertThat(pids).hasSize(2);
    process.close();
    process.close();
    assertThat(isRunning(pids.getFirst())).isFalse();
    awaitEnd(pids.getLast());
  }

  @Test
  void aServerThatEndsIsStartedAgain() throws Exception {
    try (var process =
        new EngineProcess(script("echo $$ > \"$0\"; exit 3", pipe), null, LONG, QUICK)) {
      process.start();
      var first = report();
      assertThat(report()).isNotEqualTo(first);
      assertThat(report()).isNotEqualTo(first);
    }
  }

  @Test
  void leftoverProcessesEndBeforeTheNextStart() throws Exception {
    try (var process =
        new EngineProcess(
            script("sleep 600 & echo $! > \"$0\"; exit 1", pipe), null, LONG, QUICK)) {
      process.start();
      long left = report().getFirst();
      assertThat(report().getFirst()).isNotEqualTo(left);
      awaitEnd(left);
    }
  }

  @Test
  void aServerThatDoesNotEndIsKilled() throws Exception {
    var process =
        new EngineProcess(
            script("trap '' TERM; echo $$ > \"$0\"; while :; do sleep 600; done", pipe),
            null,
            Duration.ofMillis(50),
            QUICK);
    process.start();
    long pid = report().getFirst();
    process.close();
    awaitEnd(pid);
  }

  @Test
  void aWorkerThatIsKilledTakesItsServerAlong() throws Exception {
    var worker =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Worker.class.getName(),
                pipe.toString())
            .inheritIO()
            .start();
    try {
      long pid = report().getFirst();
      assertThat(isRunning(pid)).isTrue();
      worker.destroyForcibly().waitFor();
      awaitEnd(pid);
    } finally {
      worker.destroyForcibly();
    }
  }

  @Test
  void outputIsAppendedToTheLog() throws Exception {
    var log = Files.writeString(folder.resolve("engine.log"), "before\n");
    try (var process =
        new EngineProcess(
            script("echo out; echo err >&2; echo $$ > \"$0\"; exec sleep 600", pipe),
            log,
            LONG,
            QUICK)) {
      process.start();
      report();
      assertThat(log).content().startsWith("before\n").contains("out\n", "err\n");
    }
  }

  @Test
  void waitsGrowUntilAServerHasRunForAWhile() {
    var pace =
        new RestartPace(Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(60));
    var brief = Duration.ofSeconds(2);
    assertThat(pace.next(Duration.ZERO, brief)).hasSeconds(1);
    assertThat(pace.next(Duration.ofSeconds(1), brief)).hasSeconds(2);
    assertThat(pace.next(Duration.ofSeconds(4), brief)).hasSeconds(5);
    assertThat(pace.next(Duration.ofSeconds(5), Duration.ofSeconds(60))).hasSeconds(1);
  }
}
