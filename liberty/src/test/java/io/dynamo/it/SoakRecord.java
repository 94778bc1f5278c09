package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;

/**
 * Records a server's use of the machine over time, as a table and as a plot. Used by one thread.
 */
final class SoakRecord {
  private static final Pattern THREADS = Pattern.compile("(?m)^Threads:\\s+(\\d+)");
  private static final int WIDTH = 900;
  private static final int HEIGHT = 160;

  /**
   * @param seconds since the start
   * @param p99Millis of the honest requests since the last sample
   */
  record Sample(
      long seconds,
      double p99Millis,
      long residentMegabytes,
      int threads,
      int descriptors,
      long logBytes) {}

  private final ProcessHandle java;
  private final Path logs;
  private final long started = System.nanoTime();
  private final List<Sample> samples = new ArrayList<>();

  SoakRecord(ServerProcess server) {
    this.java = server.java();
    this.logs = server.folder().resolve("logs");
  }

  /** Adds a sample. */
  Sample add(double p99Millis) throws IOException {
    var proc = Path.of("/proc", Long.toString(java.pid()));
    var threads = THREADS.matcher(Files.readString(proc.resolve("status")));
    int descriptors;
    try (var open = Files.list(proc.resolve("fd"))) {
      descriptors = (int) open.count();
    }
    long bytes = 0;
    try (var files = Files.walk(logs)) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        bytes += Files.size(file);
      }
    }
    var sample =
        new Sample(
            (System.nanoTime() - started) / 1_000_000_000,
            p99Millis,
            Footprint.residentMegabytes(java),
            threads.find() ? Integer.parseInt(threads.group(1)) : 0,
            descriptors,
            bytes);
    samples.add(sample);
    return sample;
  }

  /** The mean of a figure over a part of the samples, from and to as shares of all. */
  double mean(double from, double to, ToDoubleFunction<Sample> figure) {
    return samples.subList((int) (from * samples.size()), (int) (to * samples.size())).stream()
        .mapToDouble(figure)
        .average()
        .orElse(0);
  }

  /**
   * The bytes that the logs grew by over a part of the samples; less than written when they rotate.
   */
  long logGrowth(double from, double to) {
    int last = samples.size() - 1;
    return samples.get((int) (to * last)).logBytes() - samples.get((int) (from * last)).logBytes();
  }

  /** Writes {@code soak.csv} and {@code soak.svg}. */
  void write(Path folder) throws IOException {
    Files.createDirectories(folder);
    var table = new StringBuilder("seconds,p99_ms,rss_mb,threads,descriptors,log_bytes\n");
    for (var it : samples) {
      table.append(
          String.format(
              Locale.ROOT,
              "%d,%.1f,%d,%d,%d,%d%n",
              it.seconds(),
              it.p99Millis(),
              it.residentMegabytes(),
              it.threads(),
              it.descriptors(),
              it.logBytes()));
    }
    Files.writeString(folder.resolve("soak.csv"), table);
    var plot = new StringBuilder();
    int row = 0;
    row = draw(plot, row, "p99, ms", Sample::p99Millis);
    row = draw(plot, row, "resident memory, MB", Sample::residentMegabytes);
    row = draw(plot, row, "threads", Sample::threads);
    row = draw(plot, row, "descriptors", Sample::descriptors);
    row = draw(plot, row, "log, bytes", Sample::logBytes);
    Files.writeString(
        folder.resolve("soak.svg"),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">%n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n%s</svg>%n"
            .formatted(WIDTH, row * HEIGHT, plot));
  }

  private int draw(StringBuilder plot, int row, String title, ToDoubleFunction<Sample> figure) {
    double most = samples.stream().mapToDouble(figure).max().orElse(1);
    long end = Math.max(1, samples.getLast().seconds());
    plot.append(
        "<text x=\"8\" y=\"%d\" font-size=\"13\" font-family=\"sans-serif\">%s (0 to %.0f, %d s)</text>%n<polyline fill=\"none\" stroke=\"steelblue\" points=\""
            .formatted(row * HEIGHT + 16, title, most, end));
    for (var it : samples) {
      plot.append(
          String.format(
              Locale.ROOT,
              "%.1f,%.1f ",
              it.seconds() * (double) WIDTH / end,
              (row + 1) * HEIGHT
                  - 4
                  - figure.applyAsDouble(it) / Math.max(1, most) * (HEIGHT - 28)));
    }
    plot.append("\"/>\n");
    return row + 1;
  }
}
