package io.dynamo.cli.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A program that starts one guarded process in the folder of its argument, and is then killed. */
final class GuardedStarter {
  private GuardedStarter() {}

  public static void main(String[] arguments) throws Exception {
    GuardedProcess.start(
        new PartPlan(
            "orphan",
            Path.of(arguments[0]),
            List.of("/bin/sh", "-c", "exec sleep 300"),
            Map.of("PATH", "/usr/bin:/bin"),
            "",
            List.of(),
            Duration.ofSeconds(2)));
    TimeUnit.MINUTES.sleep(2);
  }
}
