package io.dynamo.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the watch in processes whose carriers are all kept. */
@Timeout(120)
class CarrierWatchTest {
  @Test
  void virtualThreadsGoOnWhereAllCarriersAreKeptAndOnlyTheUsualOnesAreLeft() throws Exception {
    assertThat(run("watched")).containsExactly("went on", "two carriers", "no watch");
  }

  @Test
  void virtualThreadsAreStuckWithoutTheWatch() throws Exception {
    assertThat(run("alone")).containsExactly("stuck");
  }

  private static List<String> run(String argument) throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(PinnedCarriers.JVM_OPTIONS));
    command.addAll(
        List.of(
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            PinnedCarriers.class.getName(),
            argument));
    var process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    try (var lines = process.inputReader()) {
      var answer = lines.lines().toList();
      assertThat(process.waitFor()).isZero();
      return answer;
    } finally {
      process.destroyForcibly();
    }
  }
}
