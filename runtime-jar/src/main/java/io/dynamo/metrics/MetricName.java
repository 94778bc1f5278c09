package io.dynamo.metrics;

/**
 * A metric's name as a scraper sees it, and what it means.
 *
 * @param name {@code dynamo_<component>_<what>_<unit>}, counters ending in {@code _total}
 * @param help one sentence
 */
public record MetricName(String name, String help) {
  @Override
  public String toString() {
    return name;
  }
}
