package io.dynamo.transfer.jni;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.RegionAddress;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A second process of a test: a main class that obeys one word per line, and answers each with a
 * line that begins with {@link #ANSWER}. Owned by one test thread.
 */
final class PeerProcess {
  /** Begins each answer; the JVM may print lines of its own. */
  static final String ANSWER = "answer ";

  private final Process process;
  private final PrintStream to;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  PeerProcess(Class<?> main, String... arguments) throws IOException {
    var command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
    command.addAll(List.of(arguments));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    to = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    var _ = Thread.ofVirtual().start(this::collectAnswers);
  }

  private void collectAnswers() {
    try (var from = process.inputReader(StandardCharsets.UTF_8)) {
      for (var line = from.readLine(); line != null; line = from.readLine()) {
        if (line.startsWith(ANSWER)) {
          answers.add(line.substring(ANSWER.length()));
        }
      }
    } catch (IOException ended) {
      answers.add("ended: " + ended.getMessage());
    }
  }

  String answer(String command) throws InterruptedException {
    to.println(command);
    return requireNonNull(answers.poll(60, TimeUnit.SECONDS), "the process does not answer");
  }

  RegionAddress lend() throws InterruptedException {
    return SharedMemoryPeer.address(answer("lend"));
  }

  private void signal(String name) throws Exception {
    var kill =
        new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).inheritIO().start();
    assertThat(kill.waitFor()).isZero();
  }

  /** Returns once the kernel says that every thread has stopped. */
  void stop() throws Exception {
    signal("STOP");
    var until = Deadline.after(Duration.ofSeconds(20));
    var tasks = Path.of("/proc", String.valueOf(process.pid()), "task");
    while (!areAllStopped(tasks)) {
      assertThat(until.isExpired()).as("the process has not stopped").isFalse();
      Thread.onSpinWait();
    }
  }

  void goOn() throws Exception {
    signal("CONT");
  }

  private static boolean areAllStopped(Path tasks) throws IOException {
    try (var all = Files.list(tasks)) {
      return all.allMatch(
          task -> {
            try {
              var stat = Files.readString(task.resolve("stat"));
              return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
            } catch (IOException gone) {
              return true;
            }
          });
    }
  }

  void kill() throws InterruptedException {
    process.destroyForcibly();
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
  }
}
