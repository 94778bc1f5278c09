package io.dynamo.frontend.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Measures the cost of a streamed token in a frontend where tokens come one by one: ours and
 * Dynamo's in turn before the same workers, each started anew for every row, and haproxy in front
 * of ours as the price of passing bytes on. Prints the table of {@code
 * docs/benchmarks/frontend.md}.
 *
 * <p>{@code java frontend-war/src/bench/java/io/dynamo/frontend/load/TokenCost.java liberty/target
 * <Python environment with ai-dynamo 1.6.1> [options]}
 */
public final class TokenCost {
  private static final int WORKERS = 4;
  private static final int PROXY_WARM_UP = 3; // seconds

  private final TokenCostOptions options;
  private final Installation installation;
  private final Map<String, List<Measurement>> rows = new LinkedHashMap<>();

  /** A frontend that is measured, or what passes on to it. */
  private record Subject(String name, Path ear) {}

  private TokenCost(TokenCostOptions options, Installation installation) {
    this.options = options;
    this.installation = installation;
  }

  public static void main(String[] args) throws Exception {
    TokenCostOptions options;
    try {
      options = TokenCostOptions.parse(args);
    } catch (IllegalArgumentException bad) {
      System.err.println(bad.getMessage());
      System.exit(2);
      return;
    }
    try (var installation = Installation.unpacked(options.built(), options.python())) {
      new TokenCost(options, installation).run();
    }
    System.exit(0);
  }

  private void run() throws Exception {
    System.out.println("load before: " + load());
    try (var _ = installation.mocker(options.othersCore(), WORKERS)) {
      for (int round = 1; round <= options.rounds(); round++) {
        for (int streams : options.streams()) {
          for (var subject : subjects()) {
            try (var server = start(subject)) {
              server.await("/v1/models", "tiny");
              measure(subject.name(), server, streams);
              if (subject.name().equals("ours") && options.proxy()) {
                proxied(server, streams);
              }
            }
          }
        }
        System.out.println("round " + round + " done, load " + load());
      }
    }
    System.out.println(CostTable.of(rows, options));
    System.out.println("load after: " + load());
  }

  private List<Subject> subjects() {
    var subjects = new ArrayList<Subject>();
    options.ears().forEach((name, ear) -> subjects.add(new Subject(name, ear)));
    if (subjects.isEmpty()) {
      subjects.add(new Subject("ours", null));
    }
    if (options.dynamo()) {
      subjects.add(new Subject("Dynamo", null));
    }
    return subjects;
  }

  private Server start(Subject subject) throws Exception {
    if (subject.name().equals("Dynamo")) {
      return installation.dynamo(options.frontendsCore());
    }
    var settings = new LinkedHashMap<>(options.settings());
    settings.put("DYN_ROUTER_MODE", "round-robin");
    return installation.ours(
        "frontend", options.frontendsCore(), subject.ear(), "frontend,router", settings);
  }

  private void measure(String name, Server server, int streams) throws Exception {
    var row = row(name, streams);
    try (var load = new Load(server.port(), streams)) {
      if (options.cold() > 0) {
        row.add(load.measured(server.pid(), options.cold(), "cold"));
      }
      Thread.sleep(options.warmUp() * 1000L);
      row.add(load.measured(server.pid(), options.seconds(), "warm"));
      print(name, streams, row.getLast());
      if (options.callSeconds() > 0) {
        countCalls(load, server.pid());
      }
      if (options.sampleSeconds() > 0 && !name.equals("Dynamo")) {
        var samples = Samples.start(server.pid(), installation.work());
        Thread.sleep(options.sampleSeconds() * 1000L);
        System.out.println(samples.table());
      }
    }
  }

  private void proxied(Server server, int streams) throws Exception {
    try (var proxy = installation.proxy(options.othersCore(), server.port())) {
      proxy.await("/v1/models", "tiny");
      try (var load = new Load(proxy.port(), streams)) {
        Thread.sleep(PROXY_WARM_UP * 1000L);
        var row = row("haproxy", streams);
        row.add(load.measured(proxy.pid(), options.seconds(), "warm"));
        print("haproxy", streams, row.getLast());
      }
    }
  }

  private void countCalls(Load load, long pid) throws Exception {
    long before = load.figures.streamed();
    load.figures.count(true);
    var calls = SystemCalls.of(pid, options.callSeconds());
    var counts = calls.counts();
    load.figures.count(false);
    double tokens = Math.max(1, load.figures.streamed() - before);
    var text = new StringBuilder("  system calls per token:");
    counts.forEach((name, count) -> text.append(" %s %.2f".formatted(name, count / tokens)));
    System.out.println(text);
  }

  private List<Measurement> row(String name, int streams) {
    return rows.computeIfAbsent(CostTable.key(name, streams), _ -> new ArrayList<>());
  }

  private static void print(String name, int streams, Measurement warm) throws IOException {
    System.out.printf(
        "%s, %d streams: %.1f us CPU per token, %.0f tokens/s, between tokens p50 %.1f p99 %.1f ms,"
            + " %.0f bytes per token, %d MB, load %s%n",
        name,
        streams,
        warm.cpuMicros(),
        warm.tokensPerSecond(),
        warm.gapMedianMillis(),
        warm.gapTailMillis(),
        warm.bytes(),
        warm.residentMegabytes(),
        load());
    var threads = new StringBuilder("  by threads:");
    warm.threads().entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .limit(10)
        .forEach(entry -> threads.append(" %s %.1f".formatted(entry.getKey(), entry.getValue())));
    System.out.println(threads);
  }

  private static String load() throws IOException {
    return Files.readString(Path.of("/proc/loadavg")).strip();
  }

  /** Clients that stream from a frontend until they are closed. */
  private final class Load implements AutoCloseable {
    private final AtomicBoolean over = new AtomicBoolean();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Figures figures = new Figures();

    Load(int port, int streams) {
      var asked = Options.streams(port, streams, options.tokens());
      new ClosedLoop(asked, figures, over::get).start(threads);
    }

    Measurement measured(long pid, int seconds, String phase) throws Exception {
      try (var watched = new MeasuredProcess(pid)) {
        return measured(watched, pid, seconds, phase);
      }
    }

    private Measurement measured(MeasuredProcess watched, long pid, int seconds, String phase)
        throws Exception {
      var times = new ThreadTimes(pid);
      var gaps = figures.newGaps();
      long before = figures.streamed();
      watched.start();
      figures.count(true);
      long begun = System.nanoTime();
      Thread.sleep(seconds * 1000L);
      figures.count(false);
      double took = (System.nanoTime() - begun) / 1e9;
      double tokens = Math.max(1, figures.streamed() - before);
      double micros = watched.cpuMicros();
      var threadMicros = times.micros();
      threadMicros.replaceAll((_, spent) -> spent / tokens);
      return new Measurement(
          phase,
          micros / tokens,
          tokens / took,
          gaps.millis(0.5),
          gaps.millis(0.99),
          watched.allocatedBytes() / tokens,
          watched.residentMegabytes(),
          figures.failed(),
          threadMicros);
    }

    @Override
    public void close() {
      over.set(true);
      threads.shutdown();
      try {
        threads.awaitTermination(10, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      threads.shutdownNow();
    }
  }
}
