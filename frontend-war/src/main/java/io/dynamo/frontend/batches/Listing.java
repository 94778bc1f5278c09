package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.List;

/** Pages of lists, by the time of creation. */
public final class Listing {
  private Listing() {}

  /**
   * Which page.
   *
   * @param after the id of the entry before the first; empty for the beginning
   * @param limit entries on the page
   */
  public record Page(String after, int limit, boolean ascending) {
    String order() {
      return ascending
          ? " ORDER BY created, id LIMIT " + (limit + 1)
          : " ORDER BY created DESC, id DESC LIMIT " + (limit + 1);
    }

    /** The condition on entries behind {@link #after}; its values are time, time and id. */
    String behind() {
      return ascending
          ? " AND (created > ? OR (created = ? AND id > ?))"
          : " AND (created < ? OR (created = ? AND id < ?))";
    }

    /** Values of {@link #behind} that every entry fulfils. */
    Object[] anywhere() {
      long edge = ascending ? -1 : Long.MAX_VALUE;
      return new Object[] {edge, edge, ""};
    }
  }

  /** The entries of a page. */
  public record Entries<T>(List<T> entries, boolean hasMore) {
    static <T> Entries<T> of(List<T> found, int limit) {
      return new Entries<>(found.subList(0, Math.min(limit, found.size())), found.size() > limit);
    }
  }

  static ApiException unknownAfter(String id) {
    return new ApiException(
        new ApiError(
            400,
            "`after` names no entry: \"%s\"".formatted(ApiError.shown(id)),
            null,
            "after",
            null));
  }
}
