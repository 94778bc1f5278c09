package io.dynamo.cli;

import io.dynamo.json.JsonObject;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Loads a server with streamed chat completions and measures what its clients see. */
@Command(
    name = "bench",
    description = "Loads a server with streamed chat completions and measures what clients see.")
final class BenchCommand extends Subcommand {
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double NANOS_PER_SECOND = 1e9;

  /**
   * A request that was answered.
   *
   * @param firstNanos from its start to the first piece of text
   * @param gapNanos mean time between the tokens that followed; −1 for a single one
   */
  record Sample(long firstNanos, double gapNanos, long totalNanos, int tokens) {}

  @Mixin private ServerOptions server;

  @Mixin private ModelOption model;

  @Option(
      names = "--requests",
      paramLabel = "NUMBER",
      defaultValue = "64",
      description = "Requests in all (default: ${DEFAULT-VALUE}).")
  private int requests;

  @Option(
      names = "--concurrency",
      paramLabel = "NUMBER",
      defaultValue = "8",
      description = "Requests at once (default: ${DEFAULT-VALUE}).")
  private int concurrency;

  @Option(
      names = "--words",
      paramLabel = "NUMBER",
      defaultValue = "64",
      description = "Words of each prompt, different for each (default: ${DEFAULT-VALUE}).")
  private int words;

  @Option(
      names = "--max-tokens",
      paramLabel = "NUMBER",
      defaultValue = "64",
      description = "Tokens of each answer, at most (default: ${DEFAULT-VALUE}).")
  private int maxTokens;

  @Option(names = "--json", description = "Prints one line of JSON.")
  private boolean json;

  @SuppressWarnings("NullAway.Init")
  BenchCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    if (requests < 1 || concurrency < 1 || words < 1 || maxTokens < 1) {
      throw new ParameterException(
          commandLine(), "--requests, --concurrency, --words and --max-tokens are at least 1");
    }
    var client = server.client();
    var name = model.of(client);
    var samples = new ConcurrentLinkedQueue<Sample>();
    var failures = new ConcurrentLinkedQueue<String>();
    var next = new AtomicInteger();
    long began = System.nanoTime();
    try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < Math.min(concurrency, requests); i++) {
        clients.execute(
            () -> {
              for (int number = next.getAndIncrement();
                  number < requests;
                  number = next.getAndIncrement()) {
                try {
                  samples.add(ask(client, name, number));
                } catch (RefusedException | UnreachableException e) {
                  failures.add(String.valueOf(e.getMessage()));
                }
              }
            });
      }
    }
    report(name, List.copyOf(samples), List.copyOf(failures), System.nanoTime() - began);
    return failures.isEmpty() ? ExitCode.DONE : ExitCode.REFUSED;
  }

  private Sample ask(ServerClient client, String name, int number) {
    var body =
        JsonObject.ordered(
            "model",
            name,
            "stream",
            true,
            "stream_options",
            Map.of("include_usage", true),
            "max_tokens",
            maxTokens,
            "messages",
            List.of(Map.of("role", "user", "content", prompt(number))));
    long began = System.nanoTime();
    long first = -1;
    long last = began;
    int tokens = 0;
    try (var lines = client.stream("/v1/chat/completions", body)) {
      for (var line : (Iterable<String>) lines::iterator) {
        var part = AnswerPart.of(line);
        if (part == null) {
          continue;
        }
        if (part.error() != null) {
          throw new RefusedException(part.error());
        }
        if (!(part.content() + part.reasoning()).isEmpty()) {
          last = System.nanoTime();
          first = first < 0 ? last : first;
        }
        tokens = Math.max(tokens, part.tokens());
      }
    }
    return new Sample(
        first < 0 ? 0 : first - began,
        tokens > 1 ? (double) (last - first) / (tokens - 1) : -1,
        System.nanoTime() - began,
        tokens);
  }

  /** Returns a text that begins with its number, so that no two prompts share their first block. */
  private String prompt(int number) {
    return number + " " + String.join(" ", Collections.nCopies(words, "word"));
  }

  private void report(String name, List<Sample> samples, List<String> failures, long nanos) {
    var out = out();
    long tokens = samples.stream().mapToLong(Sample::tokens).sum();
    double seconds = nanos / NANOS_PER_SECOND;
    double[] first = sorted(samples.stream().mapToDouble(Sample::firstNanos).toArray());
    double[] gaps =
        sorted(samples.stream().mapToDouble(Sample::gapNanos).filter(gap -> gap >= 0).toArray());
    double[] totals = sorted(samples.stream().mapToDouble(Sample::totalNanos).toArray());
    if (json) {
      Output.json(
          out,
          JsonObject.ordered(
              "model", name,
              "answered", samples.size(),
              "failed", failures.size(),
              "seconds", seconds,
              "requests_per_second", samples.size() / seconds,
              "tokens_per_second", tokens / seconds,
              "ttft_ms", percentiles(first),
              "itl_ms", percentiles(gaps),
              "total_ms", percentiles(totals)));
    } else {
      out.println(
          String.format(
              Locale.ROOT,
              "%s: %d answered, %d failed in %.2f s; %.1f requests/s, %.1f tokens/s",
              name,
              samples.size(),
              failures.size(),
              seconds,
              samples.size() / seconds,
              tokens / seconds));
      Output.table(
          out,
          List.of(
              List.of("MILLISECONDS", "50 %", "90 %", "99 %"),
              row("time to first token", first),
              row("between tokens", gaps),
              row("whole answer", totals)));
    }
    failures.stream().distinct().limit(5).forEach(error()::println);
  }

  private static double[] sorted(double[] values) {
    Arrays.sort(values);
    return values;
  }

  private static List<String> row(String what, double[] sorted) {
    return List.of(
        what,
        shown(quantile(sorted, 0.5)),
        shown(quantile(sorted, 0.9)),
        shown(quantile(sorted, 0.99)));
  }

  private static String shown(@Nullable Double nanos) {
    return nanos == null ? "-" : String.format(Locale.ROOT, "%.2f", nanos / NANOS_PER_MILLI);
  }

  private static Map<String, @Nullable Object> percentiles(double[] sorted) {
    return JsonObject.ordered(
        "p50", millis(quantile(sorted, 0.5)),
        "p90", millis(quantile(sorted, 0.9)),
        "p99", millis(quantile(sorted, 0.99)));
  }

  private static Object millis(@Nullable Double nanos) {
    return nanos == null ? -1 : nanos / NANOS_PER_MILLI;
  }

  /** Returns the smallest value that at least this share of all values do not exceed. */
  static @Nullable Double quantile(double[] sorted, double share) {
    return sorted.length == 0
        ? null
        : sorted[Math.clamp((int) Math.ceil(share * sorted.length) - 1, 0, sorted.length - 1)];
  }
}
