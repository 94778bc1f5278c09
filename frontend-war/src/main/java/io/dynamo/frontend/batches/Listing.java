package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.responses.Sql;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
    private String order() {
      return ascending
          ? " ORDER BY created, id LIMIT " + (limit + 1)
          : " ORDER BY created DESC, id DESC LIMIT " + (limit + 1);
    }

    /** The condition on entries behind {@link #after}; its values are time, time and id. */
    private String behind() {
      return ascending
          ? " AND (created > ? OR (created = ? AND id > ?))"
          : " AND (created < ? OR (created = ? AND id < ?))";
    }
  }

  /** The entries of a page. */
  public record Entries<T>(List<T> entries, boolean hasMore) {
    /** No entries, and none behind. */
    public static <T> Entries<T> none() {
      return new Entries<>(List.of(), false);
    }
  }

  /** Finds the time at which the entry of an id was created. */
  interface Creation {
    Optional<Long> millis(String id) throws SQLException;
  }

  /**
   * Reads a page.
   *
   * @param select with its conditions
   * @param values of these conditions
   * @throws ApiException with 400 when the page begins after an entry that is not there
   */
  static <T> Entries<T> read(
      Sql sql, Page page, Sql.Row<T> row, String select, List<Object> values, Creation creation)
      throws SQLException {
    var all = new ArrayList<>(values);
    var behind = "";
    if (!page.after().isEmpty()) {
      Long created =
          (Owners.isPossible(page.after()) ? creation.millis(page.after()) : Optional.<Long>empty())
              .orElseThrow(() -> unknownAfter(page.after()));
      behind = page.behind();
      all.addAll(List.of(created, created, page.after()));
    }
    var found = sql.query(row, select + behind + page.order(), all.toArray());
    return new Entries<>(
        found.subList(0, Math.min(page.limit(), found.size())), found.size() > page.limit());
  }

  private static ApiException unknownAfter(String id) {
    return new ApiException(
        new ApiError(
            400,
            "`after` names no entry: \"%s\"".formatted(ApiError.shown(id)),
            null,
            "after",
            null));
  }
}
