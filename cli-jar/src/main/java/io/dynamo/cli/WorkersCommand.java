package io.dynamo.cli;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists the ranks of the workers that a frontend knows, with the load that its router booked. */
@Command(
    name = "workers",
    description = "Lists the ranks of all workers that a frontend knows, with their load.")
final class WorkersCommand extends Subcommand {
  private static final Pattern SERIES =
      Pattern.compile("(?m)^[a-z_]*?frontend_worker_([a-z_]+)\\{([^}]*)} (\\S+)$");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

  /** A rank of a worker. In the order of ids, then of ranks. */
  record Rank(long worker, int rank, String type) implements Comparable<Rank> {
    @Override
    public int compareTo(Rank other) {
      int byWorker = Long.compareUnsigned(worker, other.worker);
      return byWorker == 0 ? Integer.compare(rank, other.rank) : byWorker;
    }
  }

  @Mixin private ServerOptions server;

  @Option(names = "--json", description = "Prints one line of JSON.")
  private boolean json;

  @SuppressWarnings("NullAway.Init")
  WorkersCommand() {}

  @Override
  public Integer call() {
    var ranks = ranks(server.client().text("/metrics"));
    var out = out();
    if (json) {
      Output.json(
          out,
          Map.of(
              "workers",
              ranks.entrySet().stream().map(it -> json(it.getKey(), it.getValue())).toList()));
    } else if (ranks.isEmpty()) {
      error().println("the frontend knows no worker");
    } else {
      var rows = new ArrayList<List<String>>();
      rows.add(
          List.of("WORKER", "IN LOGS", "RANK", "TYPE", "BLOCKS", "PREFILL TOKENS", "LAST TTFT"));
      ranks.forEach((rank, values) -> rows.add(row(rank, values)));
      Output.table(out, rows);
    }
    return ranks.isEmpty() ? ExitCode.REFUSED : ExitCode.DONE;
  }

  /** Reads the series of workers from a page of metrics: their values by the end of their name. */
  static Map<Rank, Map<String, Double>> ranks(String metrics) {
    var ranks = new TreeMap<Rank, Map<String, Double>>();
    var series = SERIES.matcher(metrics);
    while (series.find()) {
      var labels = new TreeMap<String, String>();
      LABEL
          .matcher(series.group(2))
          .results()
          .forEach(label -> labels.put(label.group(1), label.group(2)));
      var worker = labels.get("worker_id");
      var rank = labels.get("dp_rank");
      if (worker != null && rank != null) {
        ranks
            .computeIfAbsent(
                new Rank(
                    Long.parseUnsignedLong(worker),
                    Integer.parseInt(rank),
                    labels.getOrDefault("worker_type", "")),
                _ -> new TreeMap<>())
            .put(series.group(1), Double.valueOf(series.group(3)));
      }
    }
    return ranks;
  }

  private static List<String> row(Rank rank, Map<String, Double> values) {
    var ttft = values.get("last_time_to_first_token_seconds");
    return List.of(
        Long.toUnsignedString(rank.worker),
        Long.toHexString(rank.worker),
        Integer.toString(rank.rank),
        rank.type,
        whole(values.get("active_decode_blocks")),
        whole(values.get("active_prefill_tokens")),
        ttft == null || ttft <= 0 ? "-" : String.format(Locale.ROOT, "%.1f ms", ttft * 1e3));
  }

  private static String whole(@Nullable Double value) {
    return value == null ? "-" : Long.toString(Math.round(value));
  }

  private static Map<String, @Nullable Object> json(Rank rank, Map<String, Double> values) {
    var object =
        JsonObject.ordered(
            "worker_id",
            Json.unsigned(rank.worker),
            "worker",
            Long.toHexString(rank.worker),
            "dp_rank",
            rank.rank,
            "worker_type",
            rank.type);
    values.forEach((name, value) -> object.put(Objects.requireNonNull(name), value));
    return object;
  }
}
