package io.dynamo.frontend.load;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Writes the medians of all rounds as a table of Markdown. */
final class CostTable {
  private CostTable() {}

  static String key(String name, int streams) {
    return name + '/' + streams;
  }

  static String of(Map<String, List<Measurement>> rows, TokenCostOptions options) {
    var names = names(rows);
    var text = new StringBuilder("| streams |");
    for (var name : names) {
      if (!name.equals("haproxy") && options.cold() > 0) {
        text.append(' ').append(name).append(", first ").append(options.cold()).append(" s |");
      }
      text.append(' ').append(name).append(" |");
    }
    boolean paired = names.contains("Dynamo");
    text.append(paired ? " ours : Dynamo, cold / warm |" : "");
    text.append(" between tokens, p50 / p99 |\n|").append(" --- |".repeat(2));
    text.append(" --- |".repeat(columns(text) - 2)).append('\n');
    for (int streams : options.streams()) {
      text.append("| ").append(streams).append(" |");
      var gaps = new ArrayList<String>();
      for (var name : names) {
        var row = rows.getOrDefault(key(name, streams), List.of());
        if (!name.equals("haproxy") && options.cold() > 0) {
          text.append(" %.1f |".formatted(median(row, "cold", Measurement::cpuMicros)));
        }
        text.append(" %.1f |".formatted(median(row, "warm", Measurement::cpuMicros)));
        if (!name.equals("haproxy")) {
          gaps.add(
              "%s %.1f / %.1f ms"
                  .formatted(
                      name,
                      median(row, "warm", Measurement::gapMedianMillis),
                      median(row, "warm", Measurement::gapTailMillis)));
        }
      }
      if (paired) {
        var ours = rows.getOrDefault(key(names.getFirst(), streams), List.of());
        var theirs = rows.getOrDefault(key("Dynamo", streams), List.of());
        text.append(
            " %.2f / %.2f |".formatted(ratio(ours, theirs, "cold"), ratio(ours, theirs, "warm")));
      }
      text.append(' ').append(String.join(", ", gaps)).append(" |\n");
    }
    return text.toString();
  }

  private static int columns(CharSequence header) {
    return (int)
            header.toString().lines().findFirst().orElse("").chars().filter(c -> c == '|').count()
        - 1;
  }

  private static List<String> names(Map<String, List<Measurement>> rows) {
    return rows.keySet().stream()
        .map(key -> key.substring(0, key.lastIndexOf('/')))
        .distinct()
        .toList();
  }

  private static double ratio(List<Measurement> ours, List<Measurement> theirs, String phase) {
    return median(ours, phase, Measurement::cpuMicros)
        / median(theirs, phase, Measurement::cpuMicros);
  }

  private static double median(
      List<Measurement> row, String phase, ToDoubleFunction<Measurement> what) {
    var values =
        row.stream().filter(one -> one.phase().equals(phase)).mapToDouble(what).sorted().toArray();
    if (values.length == 0) {
      return Double.NaN;
    }
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }
}
