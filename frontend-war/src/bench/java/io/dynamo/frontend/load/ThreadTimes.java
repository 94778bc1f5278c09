package io.dynamo.frontend.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The CPU time of a process by groups of its threads: names without their numbers. Threads that end
 * meanwhile are not counted. One thread.
 */
final class ThreadTimes {
  private static final double MICROS_PER_TICK = 10_000; // USER_HZ is 100 on Linux

  private final Path tasks;
  private final Map<String, Long> before;
  private final Map<String, String> names = new HashMap<>();

  ThreadTimes(long pid) throws IOException {
    tasks = Path.of("/proc", Long.toString(pid), "task");
    before = ticks();
  }

  private Map<String, Long> ticks() throws IOException {
    var ticks = new HashMap<String, Long>();
    try (var threads = Files.list(tasks)) {
      for (var thread : (Iterable<Path>) threads::iterator) {
        try {
          var stat = Files.readString(thread.resolve("stat"));
          int end = stat.lastIndexOf(')');
          var fields = stat.substring(end + 2).split(" ");
          var id = thread.getFileName().toString();
          ticks.put(id, Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
          names.put(id, stat.substring(stat.indexOf('(') + 1, end).replaceAll("[-# ]*\\d*$", ""));
        } catch (IOException ended) {
          // not counted
        }
      }
    }
    return ticks;
  }

  /** Microseconds since this was made, by group; groups without any are left out. */
  Map<String, Double> micros() throws IOException {
    var groups = new TreeMap<String, Double>();
    ticks()
        .forEach(
            (id, now) -> {
              double spent = (now - before.getOrDefault(id, 0L)) * MICROS_PER_TICK;
              if (spent > 0) {
                groups.merge(names.getOrDefault(id, "?"), spent, Double::sum);
              }
            });
    return groups;
  }
}
