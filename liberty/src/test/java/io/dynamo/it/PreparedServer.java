package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The files that a started server leaves for later starts: its work area and an archive of its
 * classes. Made once for all tests of a run; immutable.
 *
 * @param workArea of a server that has stopped
 * @param classes the archive; this file is missing where the JVM makes none
 */
record PreparedServer(Path workArea, Path classes) {
  private static final String WORK_AREA = "workarea";
  private static @Nullable PreparedServer made;

  /** A JVM dumps its classes when it ends: a minute and more where others want the cores, too. */
  private static final Duration ARCHIVING = Duration.ofMinutes(5);

  /** The one of this run; the first caller waits for a start and a stop. */
  static synchronized PreparedServer find() {
    var known = made;
    if (known == null) {
      known = make();
      made = known;
    }
    return known;
  }

  private static PreparedServer make() {
    var archive = Path.of(System.getProperty("dynamo.it.work"), "prepared-classes.jsa");
    var plan =
        ServerProcess.Plan.named("prepared").fresh().jvm("-XX:ArchiveClassesAtExit=" + archive);
    try (var server = plan.start()) {
      server.awaitReady();
      Polling.until( // the application is ready a moment before its server says so
          "the server has started",
          Duration.ofSeconds(30),
          () -> server.console().contains("CWWKF0011I"));
      server.terminate();
      server.awaitExit(ARCHIVING);
      var area = server.folder().resolve(WORK_AREA);
      if (!Files.isDirectory(area)) {
        throw new IllegalStateException("no work area in " + server.folder());
      }
      return new PreparedServer(area, archive);
    }
  }

  /** Arguments for a JVM that is to use the archive; one that cannot starts without it. */
  List<String> jvmArguments() {
    return Files.exists(classes)
        ? List.of("-XX:SharedArchiveFile=" + classes, "-Xshare:auto", "-Xlog:cds=off,aot=off")
        : List.of();
  }

  /** Puts a copy of the work area into {@code folder}, which is a server's own. */
  void copyTo(Path folder) throws IOException {
    ServerProcess.copyTree(workArea, folder.resolve(WORK_AREA));
  }
}
