package io.dynamo.metrics;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The names and buckets under which the frontend's own metrics are published: a prefix replaces
 * {@code dynamo_frontend}, and configured buckets the standard ones. Families that share the prefix
 * but belong to other parts keep their names, as in Dynamo. Immutable.
 */
public final class MetricNaming {
  /** The naming that changes nothing. */
  public static final MetricNaming PLAIN = new MetricNaming("dynamo_frontend", Map.of());

  private static final String STANDARD = "dynamo_frontend_";

  /** The continuations of names that keep their prefix. */
  private static final Set<String> FIXED =
      Set.of(
          "worker_",
          "router_",
          "stage_",
          "tokenize_",
          "template_",
          "tokenizer_cache_",
          "detokenize_",
          "event_loop_",
          "lora_");

  private final String prefix;
  private final Map<String, List<Double>> buckets;

  /**
   * @param prefix made a legal name character by character: an illegal one becomes an underscore
   * @param buckets by the name's part after the standard prefix
   */
  public MetricNaming(String prefix, Map<String, List<Double>> buckets) {
    this.prefix = legal(prefix) + "_";
    this.buckets = Map.copyOf(buckets);
  }

  private static String legal(String prefix) {
    var legal = prefix.replaceAll("[^a-zA-Z0-9_:]", "_");
    return Character.isDigit(legal.charAt(0)) ? "_" + legal : legal;
  }

  /** Returns the name that {@code name} is published under. */
  public MetricName published(MetricName name) {
    if (!name.name().startsWith(STANDARD)) {
      return name;
    }
    var rest = name.name().substring(STANDARD.length());
    for (var fixed : FIXED) {
      if (rest.startsWith(fixed)) {
        return name;
      }
    }
    return new MetricName(prefix + rest, name.help(), buckets.getOrDefault(rest, name.buckets()));
  }
}
