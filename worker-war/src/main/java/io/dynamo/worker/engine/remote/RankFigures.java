package io.dynamo.worker.engine.remote;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The values of some metrics by data-parallel rank, of a server's text in Prometheus' form. */
public final class RankFigures {
  private final Map<String, double[]> sums = new HashMap<>(); // by name and rank

  private RankFigures() {}

  /**
   * Reads a text; series of the same name and rank are added up. Lines that are not understood, and
   * ranks that are not below {@code ranks}, are left out.
   *
   * @param rankLabel the label with the rank's number; a series without it is of rank 0
   */
  public static RankFigures read(byte[] text, String rankLabel, int ranks, Set<String> names) {
    var figures = new RankFigures();
    var label = rankLabel + "=\"";
    new String(text, StandardCharsets.UTF_8)
        .lines()
        .forEach(line -> figures.readLine(line, label, ranks, names));
    return figures;
  }

  private void readLine(String line, String label, int ranks, Set<String> names) {
    int nameEnd = 0;
    while (nameEnd < line.length() && line.charAt(nameEnd) != '{' && line.charAt(nameEnd) != ' ') {
      nameEnd++;
    }
    var name = line.substring(0, nameEnd);
    if (!names.contains(name)) {
      return;
    }
    int labelsEnd = Math.max(nameEnd, line.lastIndexOf('}') + 1);
    try {
      int rank = rank(line.substring(nameEnd, labelsEnd), label);
      double value = Double.parseDouble(line.substring(labelsEnd).strip().split(" ", 2)[0]);
      if (rank >= 0 && rank < ranks && Double.isFinite(value)) {
        sums.computeIfAbsent(name, _ -> new double[ranks])[rank] += value;
      }
    } catch (NumberFormatException _) {
      // not a figure
    }
  }

  private static int rank(String labels, String label) {
    int from = labels.indexOf(label);
    if (from < 0) {
      return 0;
    }
    int begin = from + label.length();
    int end = labels.indexOf('"', begin);
    return Integer.parseInt(labels.substring(begin, Math.max(begin, end)));
  }

  /** Whether any rank has the metric. */
  public boolean has(String name) {
    return sums.containsKey(name);
  }

  /** Returns a rank's value; 0 when it is not there. */
  public double value(String name, int rank) {
    var values = sums.get(name);
    return values == null ? 0 : values[rank];
  }

  /** Returns a rank's value as a whole number that is not negative. */
  public int count(String name, int rank) {
    return (int) Math.max(0, value(name, rank));
  }
}
