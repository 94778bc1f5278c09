package io.dynamo.frontend.catalog;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a model is from being served: it is ready when the workers of one namespace are.
 *
 * @param namespaces in which cards of it are, in order of arrival
 */
public record Readiness(List<Namespace> namespaces) {
  /**
   * How far the workers of one namespace are.
   *
   * @param reason why they cannot be asked; null when they can
   * @param types of its workers, in order of arrival
   * @param missing worker types that must be live and are not
   */
  public record Namespace(
      String name, @Nullable String reason, List<WorkerType> types, List<String> missing) {
    public Namespace {
      types = List.copyOf(types);
      missing = List.copyOf(missing);
    }

    /** Whether its workers can be asked now. */
    public boolean ready() {
      return reason == null;
    }
  }

  /**
   * The workers of one type.
   *
   * @param name {@code aggregated} for those that do all of a request
   * @param workers that are live
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

  /** Whether the model can be asked now. */
  public boolean ready() {
    return namespaces.stream().anyMatch(Namespace::ready);
  }
}
