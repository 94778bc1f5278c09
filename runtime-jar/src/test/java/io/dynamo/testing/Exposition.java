package io.dynamo.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** A Prometheus text, read. */
public record Exposition(String text, Map<String, Family> families, Map<String, Double> sums) {
  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");
  private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"([^\"]*)\"");

  /**
   * A metric family as programs read it.
   *
   * @param labels names of all series, without {@code le}
   * @param buckets of the first series
   */
  public record Family(String type, String help, Set<String> labels, List<String> buckets) {}

  /** Reads {@code text}; fails on a line that is none of the format. */
  public static Exposition of(String text) {
    Map<String, Family> families = new TreeMap<>();
    Map<String, Double> sums = new TreeMap<>();
    var help = "";
    var current = new Family("", "", Set.of(), List.of());
    for (var line : text.lines().toList()) {
      if (line.startsWith("# HELP ")) {
        help = line.split(" ", 4)[3];
      } else if (line.startsWith("# TYPE ")) {
        var parts = line.split(" ", 4);
        current = new Family(parts[3], help, new TreeSet<>(), new ArrayList<>());
        families.put(parts[2], current);
      } else {
        take(line, current, sums);
      }
    }
    return new Exposition(text, families, sums);
  }

  private static void take(String line, Family family, Map<String, Double> sums) {
    var sample = SAMPLE.matcher(line);
    if (!sample.matches()) {
      throw new AssertionError("no sample: " + line);
    }
    sums.merge(
        sample.group(1), Double.valueOf(sample.group(3).replace("Inf", "Infinity")), Double::sum);
    if (sample.group(2) != null) {
      var label = LABEL.matcher(sample.group(2));
      while (label.find()) {
        if (!label.group(1).equals("le")) {
          family.labels().add(label.group(1));
        } else if (!family.buckets().contains(label.group(2))) {
          family.buckets().add(label.group(2));
        }
      }
    }
  }

  /** Returns the family exported under {@code name}; fails when there is none. */
  public Family family(String name) {
    var family = families.get(name);
    if (family == null) {
      throw new AssertionError(name + " is not exported");
    }
    return family;
  }

  /** All series of one sample name, added up; 0 when there is none. */
  public double sum(String sample) {
    return sums.getOrDefault(sample, 0.0);
  }

  /** A text captured from one of Dynamo's processes. */
  public static Exposition captured(String name) {
    try (var in = Exposition.class.getResourceAsStream("/golden/metrics/" + name)) {
      if (in == null) {
        throw new IllegalArgumentException("no golden text " + name);
      }
      return of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
