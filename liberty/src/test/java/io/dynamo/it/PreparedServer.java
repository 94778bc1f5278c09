package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a server that has been started once keeps in its work area: which bundles its features are,
 * how they are wired, what the classes of the application are annotated with. A server that finds
 * it there starts with a fifth less work. Made once for all tests of a run; safe for concurrent
 * use.
 */
final class PreparedServer {
  private static final String WORK_AREA = "workarea";
  private static @Nullable Path made;

  private PreparedServer() {}

  /** The work area to copy; the first to ask waits for a start and a stop. */
  private static synchronized Path workArea() {
    var known = made;
    if (known != null) {
      return known;
    }
    try (var server = ServerProcess.Plan.named("prepared").fresh().start()) {
      server.awaitReady();
      Polling.until( // the application is ready a moment before its server says so
          "the server has started",
          Duration.ofSeconds(30),
          () -> server.console().contains("CWWKF0011I"));
      server.terminate();
      server.awaitExit();
      var area = server.folder().resolve(WORK_AREA);
      if (!Files.isDirectory(area)) {
        throw new IllegalStateException("no work area in " + server.folder());
      }
      made = area;
      return area;
    }
  }

  /** Puts a copy into {@code folder}, which is a server's own. */
  static void copyTo(Path folder) throws IOException {
    ServerProcess.copyTree(workArea(), folder.resolve(WORK_AREA));
  }
}
