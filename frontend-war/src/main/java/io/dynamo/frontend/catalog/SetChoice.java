package io.dynamo.frontend.catalog;

import io.dynamo.discovery.InstanceId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Draws among sets of workers, each weighted by the number of its callable workers. Sets whose
 * workers are all busy count only if all sets are, and workers that are set aside after a failure
 * only if no set has others. A session stays with its set while that has room. Safe for concurrent
 * use.
 */
final class SetChoice {
  private final LiveWorkers workers;
  private final DoubleSupplier random;

  /**
   * @param random uniform in [0, 1); safe for concurrent use
   */
  SetChoice(LiveWorkers workers, DoubleSupplier random) {
    this.workers = workers;
    this.random = random;
  }

  /** Draws one of the {@code sets} that match {@code query}; null when none does. */
  @Nullable ServedModel among(List<CatalogEntry> sets, ModelCatalog.Query query) {
    var fitting = new ArrayList<CatalogEntry>(sets.size());
    for (var set : sets) {
      if (query.takes(set.card())) {
        fitting.add(set);
      }
    }
    var named = having(fitting, query.worker());
    if (named != null) {
      return named.served();
    }
    if (fitting.size() < 2) {
      return fitting.isEmpty() ? null : fitting.getFirst().served();
    }
    var session = query.session();
    if (session != null) {
      var home = drawn(fitting, pointOf(session), List.of(workers::usable, workers::live));
      if (workers.free(home) > 0) {
        return home.served();
      }
    }
    return drawn(fitting, session == null ? random.getAsDouble() : pointOf(session)).served();
  }

  private static @Nullable CatalogEntry having(
      List<CatalogEntry> sets, @Nullable InstanceId worker) {
    if (worker != null) {
      for (var set : sets) {
        if (set.ids().contains(worker)) {
          return set;
        }
      }
    }
    return null;
  }

  /** Returns all of {@code sets}, drawn one after the other. */
  List<ServedModel> inTurn(List<CatalogEntry> sets) {
    var left = new ArrayList<>(sets);
    var turn = new ArrayList<ServedModel>(sets.size());
    while (!left.isEmpty()) {
      var next = drawn(left, random.getAsDouble());
      left.remove(next);
      var model = next.served();
      if (model != null) {
        turn.add(model);
      }
    }
    return turn;
  }

  private CatalogEntry drawn(List<CatalogEntry> sets, double point) {
    return drawn(sets, point, List.of(workers::free, workers::usable, workers::live));
  }

  /**
   * Returns the set at a point of the weighted sets.
   *
   * @param point in [0, 1), over the workers of all sets in their order
   * @param weights the first that is not 0 for all sets counts
   */
  private static CatalogEntry drawn(
      List<CatalogEntry> sets, double point, List<ToIntFunction<CatalogEntry>> weights) {
    var counts = new int[sets.size()];
    int sum = 0;
    for (int i = 0; i < weights.size() && sum == 0; i++) {
      sum = weigh(sets, weights.get(i), counts);
    }
    double left = point * sum;
    for (int i = 0; i < counts.length; i++) {
      left -= counts[i];
      if (left < 0) {
        return sets.get(i);
      }
    }
    return sets.getLast(); // their workers left meanwhile
  }

  /** Fills {@code weights} with the number of workers of each set; returns their sum. */
  private static int weigh(
      List<CatalogEntry> sets, ToIntFunction<CatalogEntry> count, int[] weights) {
    int sum = 0;
    for (int i = 0; i < weights.length; i++) {
      weights[i] = count.applyAsInt(sets.get(i));
      sum += weights[i];
    }
    return sum;
  }

  /** Maps sessions evenly to [0, 1), each always to the same point. */
  private static double pointOf(String session) {
    int mixed = session.hashCode() * 0x9E3779B9;
    mixed = (mixed ^ (mixed >>> 15)) * 0x85EBCA6B;
    return (mixed >>> 1) / (double) (1L << 31);
  }
}
