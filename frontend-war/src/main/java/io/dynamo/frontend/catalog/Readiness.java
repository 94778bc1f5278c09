package io.dynamo.frontend.catalog;

import java.util.List;

/**
 * How far a model is from being served.
 *
 * @param namespace of its workers
 * @param workerType what they do, {@code aggregated} for all of it
 * @param workers that are live
 * @param needs alternatives, each a list of worker types that must be live beside them
 * @param ready whether it can be asked now
 */
public record Readiness(
    String namespace, String workerType, int workers, List<List<String>> needs, boolean ready) {
  public Readiness {
    needs = needs.stream().map(List::copyOf).toList();
  }
}
