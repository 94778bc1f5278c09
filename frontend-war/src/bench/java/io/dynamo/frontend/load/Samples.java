package io.dynamo.frontend.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * The CPU-time samples of a JVM by the layer that each was taken in: the topmost frame of a known
 * package. Taken by a flight recording that {@code jcmd} starts. One thread.
 */
final class Samples {
  private static final String NAME = "dynamo-bench";
  private static final List<Map.Entry<String, String>> LAYERS =
      List.of(
          Map.entry("io.dynamo.frontend.sse", "frontend.sse"),
          Map.entry("io.dynamo.frontend.openai", "frontend.openai"),
          Map.entry("io.dynamo.frontend.postprocess", "frontend.postprocess"),
          Map.entry("io.dynamo.frontend", "frontend, the rest"),
          Map.entry("io.dynamo.router", "router"),
          Map.entry("io.dynamo.wire", "wire"),
          Map.entry("io.dynamo.request", "request plane"),
          Map.entry("io.dynamo.pipeline", "pipeline"),
          Map.entry("io.dynamo", "ours, the rest"),
          Map.entry("io.netty", "Netty"),
          Map.entry("org.jboss.resteasy", "RESTEasy"),
          Map.entry("com.ibm", "container"),
          Map.entry("io.openliberty", "container"));

  private final long pid;
  private final Path file;

  private Samples(long pid, Path file) {
    this.pid = pid;
    this.file = file;
  }

  /** Begins to sample. */
  static Samples start(long pid, Path folder) throws Exception {
    var settings = folder.resolve("samples.jfc");
    Files.writeString(
        settings,
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <configuration version="2.0">
          <event name="jdk.CPUTimeSample"><setting name="enabled">true</setting><setting name="throttle">500/s</setting></event>
          <event name="jdk.ObjectAllocationSample"><setting name="enabled">true</setting><setting name="throttle">300/s</setting></event>
        </configuration>
        """);
    var file = folder.resolve("samples-" + pid + ".jfr");
    jcmd(pid, "JFR.start", "name=" + NAME, "settings=" + settings);
    return new Samples(pid, file);
  }

  /** Ends the sampling; returns the table. */
  String table() throws Exception {
    jcmd(pid, "JFR.stop", "name=" + NAME, "filename=" + file);
    var layers = new TreeMap<String, Integer>();
    var tops = new TreeMap<String, Integer>();
    var bytes = new TreeMap<String, Long>();
    int all = 0;
    long allBytes = 0;
    try (var recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        var event = recording.readEvent();
        var trace = event.getStackTrace();
        if (event.getEventType().getName().equals("jdk.CPUTimeSample")) {
          all++;
          if (trace == null || trace.getFrames().isEmpty()) {
            layers.merge("no stack", 1, Integer::sum);
            continue;
          }
          layers.merge(layer(trace.getFrames()), 1, Integer::sum);
          tops.merge(name(trace.getFrames().getFirst()), 1, Integer::sum);
        } else if (event.getEventType().getName().equals("jdk.ObjectAllocationSample")) {
          long weight = event.getLong("weight");
          allBytes += weight;
          var at = trace == null ? "no stack" : ours(trace.getFrames());
          bytes.merge(event.getClass("objectClass").getName() + " in " + at, weight, Long::sum);
        }
      }
    }
    var text = new StringBuilder("layer: samples of " + all + "\n");
    append(text, layers, all, 20);
    text.append("topmost frame\n");
    append(text, tops, all, 40);
    text.append("allocated\n");
    append(text, bytes, allBytes, 30);
    return text.toString();
  }

  private static String layer(List<RecordedFrame> frames) {
    for (var frame : frames) {
      var type = frame.getMethod().getType().getName();
      for (var layer : LAYERS) {
        if (type.startsWith(layer.getKey())) {
          return layer.getValue();
        }
      }
    }
    return "the JDK alone";
  }

  private static String ours(List<RecordedFrame> frames) {
    String first = null; // outside of the JDK
    for (var frame : frames) {
      var type = frame.getMethod().getType().getName();
      if (first == null && !type.startsWith("java.")) {
        first = name(frame);
      }
      if (type.startsWith("io.dynamo.")) {
        var own = name(frame);
        return first == null || own.equals(first) ? own : first + " for " + own;
      }
    }
    return first == null ? name(frames.getFirst()) : first;
  }

  private static String name(RecordedFrame frame) {
    return frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
  }

  private static void append(
      StringBuilder text, Map<String, ? extends Number> of, long all, int most) {
    of.entrySet().stream()
        .sorted((a, b) -> Long.compare(b.getValue().longValue(), a.getValue().longValue()))
        .limit(most)
        .forEach(
            entry ->
                text.append(
                    "  %5.1f %%  %s%n"
                        .formatted(100.0 * entry.getValue().longValue() / all, entry.getKey())));
  }

  private static void jcmd(long pid, String... arguments) throws IOException, InterruptedException {
    var command = new java.util.ArrayList<>(List.of("jcmd", Long.toString(pid)));
    command.addAll(List.of(arguments));
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (process.waitFor() != 0) {
      throw new IOException(command + " ended with status " + process.exitValue());
    }
  }
}
