package io.dynamo.worker.engine.load;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** The CPU and memory that this process has used since the last look, by groups of its threads. */
final class ThreadCost {
  private static final double MICROS_PER_TICK = 10_000; // USER_HZ is 100 on Linux
  private static final Path TASKS = Path.of("/proc/self/task");

  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final Map<String, Long> nanos = new HashMap<>(); // by thread
  private long cpu = system.getProcessCpuTime();
  private long bytes = threads.getTotalThreadAllocatedBytes();
  private long switches = switches();
  private long kernelTicks = kernelTicks();

  ThreadCost() {
    groups();
  }

  /** Describes the cost since the last call, shared by so many tokens. */
  String per(long tokens) {
    double all = Math.max(1, tokens);
    long nowCpu = system.getProcessCpuTime();
    long nowBytes = threads.getTotalThreadAllocatedBytes();
    long nowSwitches = switches();
    long nowTicks = kernelTicks();
    var split =
        groups().entrySet().stream()
            .filter(group -> group.getValue() / 1e3 / all >= 0.1)
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .map(group -> "%s %.1f".formatted(group.getKey(), group.getValue() / 1e3 / all))
            .collect(Collectors.joining(", "));
    var text =
        "%.1f us CPU (%.1f in the kernel), %.0f bytes, %.2f switches per token (%s)"
            .formatted(
                (nowCpu - cpu) / 1e3 / all,
                (nowTicks - kernelTicks) * MICROS_PER_TICK / all,
                (nowBytes - bytes) / all,
                (nowSwitches - switches) / all,
                split);
    cpu = nowCpu;
    bytes = nowBytes;
    switches = nowSwitches;
    kernelTicks = nowTicks;
    return text;
  }

  /** Returns the nanoseconds since the last call by name of the threads without their numbers. */
  private Map<String, Long> groups() {
    var groups = new HashMap<String, Long>();
    try (var tasks = Files.list(TASKS)) {
      for (var task : (Iterable<Path>) tasks::iterator) {
        try {
          var name = Files.readString(task.resolve("comm")).strip().replaceAll("[-# ]*\\d*$", "");
          var spent = Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[0]);
          var before = nanos.put(task.getFileName().toString(), spent);
          groups.merge(name, spent - (before == null ? 0 : before), Long::sum);
        } catch (IOException ended) {
          // not counted
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return groups;
  }

  private static long kernelTicks() {
    try {
      var stat = Files.readString(Path.of("/proc/self/stat"));
      return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[12]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long switches() {
    long all = 0;
    try (var tasks = Files.list(TASKS)) {
      for (var task : (Iterable<Path>) tasks::iterator) {
        try (var lines = Files.lines(task.resolve("status"))) {
          all +=
              lines
                  .filter(line -> line.contains("ctxt_switches"))
                  .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                  .sum();
        } catch (IOException | UncheckedIOException ended) {
          // not counted
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }
}
