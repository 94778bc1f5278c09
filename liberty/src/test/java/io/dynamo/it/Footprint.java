package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * A server process's use of the machine.
 *
 * @param liveMegabytes of the heap, after a full collection
 * @param residentMegabytes of memory
 * @param sockets that it has open
 */
record Footprint(long liveMegabytes, long residentMegabytes, int sockets) {
  private static final Pattern TOTAL = Pattern.compile("(?m)^Total +\\d+ +(\\d+)");
  private static final Pattern RESIDENT = Pattern.compile("(?m)^VmRSS:\\s+(\\d+) kB");

  static Footprint of(ProcessHandle java) throws IOException, InterruptedException {
    long live = number(TOTAL, JvmCensus.jcmd(java.pid(), "GC.class_histogram")) >> 20;
    return new Footprint(live, residentMegabytes(java), sockets(java));
  }

  static long residentMegabytes(ProcessHandle java) throws IOException {
    return number(RESIDENT, Files.readString(proc(java).resolve("status"))) >> 10;
  }

  static int sockets(ProcessHandle java) throws IOException {
    int count = 0;
    try (var descriptors = Files.newDirectoryStream(proc(java).resolve("fd"))) {
      for (var descriptor : descriptors) {
        try {
          if (Files.readSymbolicLink(descriptor).toString().startsWith("socket:")) {
            count++;
          }
        } catch (NoSuchFileException _) {
          // closed meanwhile
        }
      }
    }
    return count;
  }

  private static Path proc(ProcessHandle java) {
    return Path.of("/proc", Long.toString(java.pid()));
  }

  private static long number(Pattern pattern, String text) {
    var found = pattern.matcher(text);
    if (!found.find()) {
      throw new IllegalStateException(pattern + " not in " + text);
    }
    return Long.parseLong(found.group(1));
  }
}
