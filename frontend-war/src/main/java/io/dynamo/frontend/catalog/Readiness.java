package io.dynamo.frontend.catalog;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The readiness of a model: it is ready when the workers of one namespace are.
 *
 * @param namespaces the namespaces that have cards of it, in order of arrival
 */
public record Readiness(List<Namespace> namespaces) {
  /**
   * The readiness of the workers of one namespace.
   *
   * @param reason why they cannot take requests; null when they can
   * @param types of its workers, in order of arrival
   * @param missing worker types that must be live and are not
   */
  public record Namespace(
      String name, @Nullable String reason, List<WorkerType> types, List<String> missing) {
    public Namespace {
      types = List.copyOf(types);
      missing = List.copyOf(missing);
    }

    /** Whether its workers can take requests now. */
    public boolean ready() {
      return reason == null;
    }
  }

  /**
   * The workers of one type.
   *
   * @param name {@code aggregated} for those that do all of a request
   * @param workers number of live workers
   * @param needs alternatives, each a list of worker types that must be live beside them
   */
  public record WorkerType(String name, int workers, List<List<String>> needs) {
    public WorkerType {
      needs = needs.stream().map(List::copyOf).toList();
    }
  }

  public Readiness {
    namespaces = List.copyOf(namespaces);
  }

  /** Whether the model can take requests now. */
  public boolean ready() {
    return namespaces.stream().anyMatch(Namespace::ready);
  }
}
