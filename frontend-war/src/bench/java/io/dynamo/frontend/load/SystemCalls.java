package io.dynamo.frontend.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The system calls of a process, counted by {@code perf stat}; needs the right to use the kernel's
 * trace points. One thread.
 */
final class SystemCalls {
  private static final List<String> NAMES =
      List.of(
          "recvfrom",
          "read",
          "readv",
          "sendto",
          "sendmsg",
          "write",
          "writev",
          "epoll_wait",
          "epoll_pwait",
          "epoll_pwait2",
          "epoll_ctl",
          "futex",
          "getsockopt");

  private final Process perf;
  private final List<String> lines = new ArrayList<>();

  private SystemCalls(Process perf) {
    this.perf = perf;
  }

  /** Counts for {@code seconds}. */
  static SystemCalls of(long pid, int seconds) throws IOException {
    var events = new StringBuilder("raw_syscalls:sys_enter");
    for (var name : NAMES) {
      events.append(",syscalls:sys_enter_").append(name);
    }
    var command =
        List.of(
            "perf",
            "stat",
            "-x",
            ";",
            "-e",
            events.toString(),
            "-p",
            Long.toString(pid),
            "--",
            "sleep",
            Integer.toString(seconds));
    return new SystemCalls(new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  /** Calls by name, the sum under "all"; empty where they cannot be counted. */
  Map<String, Long> counts() throws IOException, InterruptedException {
    try (var out =
        new BufferedReader(new InputStreamReader(perf.getInputStream(), StandardCharsets.UTF_8))) {
      for (var line = out.readLine(); line != null; line = out.readLine()) {
        lines.add(line);
      }
    }
    var counts = new LinkedHashMap<String, Long>();
    if (perf.waitFor() != 0) {
      System.out.println("system calls cannot be counted: " + lines);
      return counts;
    }
    for (var line : lines) {
      var fields = line.split(";");
      if (fields.length > 2 && fields[0].matches("\\d+") && !fields[0].equals("0")) {
        var event = fields[2];
        counts.put(
            event.startsWith("raw") ? "all" : event.substring(event.indexOf("enter_") + 6),
            Long.parseLong(fields[0]));
      }
    }
    return counts;
  }
}
