package io.dynamo.runtime.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ends processes of its own by signals. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class JvmShutdownTest {
  private static final int SIGTERM = 143; // the exit status

  @SuppressWarnings("NullAway.Init") // each test starts one
  private Process process;

  @SuppressWarnings("NullAway.Init") // with it
  private BufferedReader lines;

  private void start(String... arguments) throws IOException {
    var command =
        new ArrayList<>(
            List.of(
                "env",
                "--default-signal", // a shell may have had them ignored, which processes inherit
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                EndingProcess.class.getName()));
    command.addAll(List.of(arguments));
    process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    lines = process.inputReader();
    assertThat(lines.readLine()).isEqualTo("started");
  }

  @AfterEach
  void end() {
    process.destroyForcibly();
  }

  private void signal(String name) throws IOException, InterruptedException {
    var kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"HUP, 129", "INT, 130", "TERM, 143"})
  void theServerStopsOnlyWhenTheActionHasRun(String signal, int status) throws Exception {
    start();

    signal(signal);

    assertThat(lines.readLine()).isEqualTo("action begins");
    process.outputWriter().append('\n').flush();
    assertThat(lines.lines()).containsExactly("action ends", "server stops");
    assertThat(process.waitFor()).isEqualTo(status);
  }

  @Test
  void aSecondSignalNeitherRunsTheActionAgainNorCutsItShort() throws Exception {
    start();

    signal("TERM");
    assertThat(lines.readLine()).isEqualTo("action begins");
    signal("TERM");
    signal("INT");
    Thread.sleep(300); // time for their handlers to begin, which print nothing

    process.outputWriter().append('\n').flush();
    assertThat(lines.lines()).containsExactly("action ends", "server stops");
  }

  @Test
  void aClosedRegistrationLeavesTheSignalToTheJvm() throws Exception {
    start("closed");

    signal("TERM");

    assertThat(lines.lines()).containsExactly("server stops");
    assertThat(process.waitFor()).isEqualTo(SIGTERM);
  }
}
