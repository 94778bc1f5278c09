package io.dynamo.worker.engine.remote;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The values of some metrics by data-parallel rank, of a server's text in Prometheus' form. */
public final class RankFigures {
  private static final String COUNTER_SUFFIX = "_total";

  private final Map<String, double[]> values = new HashMap<>(); // by name and rank

  private RankFigures() {}

  /**
   * Reads a text. Of several series of a name and rank, counters are added up, and the greatest of
   * other values counts, as each process of a server may repeat them. Left out are series of one
   * priority alone, which others include, lines that are not understood, and ranks that are not
   * below {@code ranks}.
   *
   * @param rankLabel the label with the rank's number; a series without it is of rank 0
   */
  public static RankFigures read(byte[] text, String rankLabel, int ranks, Set<String> names) {
    var figures = new RankFigures();
    new String(text, StandardCharsets.UTF_8)
        .lines()
        .forEach(line -> figures.readLine(line, rankLabel, ranks, names));
    return figures;
  }

  private void readLine(String line, String rankLabel, int ranks, Set<String> names) {
    int nameEnd = 0;
    while (nameEnd < line.length() && line.charAt(nameEnd) != '{' && line.charAt(nameEnd) != ' ') {
      nameEnd++;
    }
    var name = line.substring(0, nameEnd);
    if (!names.contains(name)) {
      return;
    }
    int labelsEnd = Math.max(nameEnd, line.lastIndexOf('}') + 1);
    var labels = line.substring(nameEnd, labelsEnd);
    if (!label(labels, "priority").isEmpty()) {
      return;
    }
    try {
      var number = label(labels, rankLabel);
      int rank = number.isEmpty() ? 0 : Integer.parseInt(number);
      double value = Double.parseDouble(line.substring(labelsEnd).strip().split(" ", 2)[0]);
      if (rank >= 0 && rank < ranks && Double.isFinite(value)) {
        var ofName = values.computeIfAbsent(name, _ -> new double[ranks]);
        ofName[rank] =
            name.endsWith(COUNTER_SUFFIX) ? ofName[rank] + value : Math.max(ofName[rank], value);
      }
    } catch (NumberFormatException _) {
      // not a figure
    }
  }

  /** Returns a label's value; empty when it is not there. */
  private static String label(String labels, String name) {
    var start = name + "=\"";
    int from = labels.indexOf(start);
    while (from > 0 && "{, ".indexOf(labels.charAt(from - 1)) < 0) { // a longer name ends so
      from = labels.indexOf(start, from + 1);
    }
    if (from < 0) {
      return "";
    }
    int begin = from + start.length();
    int end = labels.indexOf('"', begin);
    return labels.substring(begin, Math.max(begin, end));
  }

  /** Whether any rank has the metric. */
  public boolean has(String name) {
    return values.containsKey(name);
  }

  /** Returns a rank's value; 0 when it is not there. */
  public double value(String name, int rank) {
    var ofName = values.get(name);
    return ofName == null ? 0 : ofName[rank];
  }

  /** Returns a rank's value as a whole number that is not negative. */
  public int count(String name, int rank) {
    return (int) Math.max(0, value(name, rank));
  }
}
