package io.dynamo.worker.control;

import io.dynamo.model.ModelCard;
import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Checks and reads the taints that an operator gives a worker, without duplicates and in order. */
public final class Taints {
  static final int MAX_TAINTS = 256;
  static final int MAX_LENGTH = 256;

  private Taints() {}

  /**
   * Reads a list of taints from JSON.
   *
   * @throws IllegalArgumentException when {@code value} is no list of taints, exceeds a limit, or
   *     has a taint with the reserved prefix
   */
  static SortedSet<String> read(@Nullable Object value) {
    if (!(value instanceof Collection<?> list)) {
      throw new IllegalArgumentException("'taints' must be a JSON array of strings");
    }
    if (list.size() > MAX_TAINTS) {
      throw new IllegalArgumentException(
          "%d taints are too many; at most %d may be named".formatted(list.size(), MAX_TAINTS));
    }
    var taints = new TreeSet<String>();
    for (var taint : list) {
      if (!(taint instanceof String name)) {
        throw new IllegalArgumentException("'taints' must be a JSON array of strings");
      }
      taints.add(checked(name));
    }
    return taints;
  }

  /**
   * Checks taints that come from settings.
   *
   * @throws IllegalArgumentException when a taint exceeds a limit or has the reserved prefix
   */
  public static SortedSet<String> of(Collection<String> names) {
    return read(names);
  }

  private static String checked(String name) {
    if (name.isBlank() || name.length() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "a taint of %d characters; each must have 1 to %d".formatted(name.length(), MAX_LENGTH));
    }
    if (name.startsWith(ModelCard.TOPOLOGY_TAINT)) {
      throw new IllegalArgumentException(
          "taint '%s' uses reserved prefix '%s'".formatted(name, ModelCard.TOPOLOGY_TAINT));
    }
    return name;
  }
}
