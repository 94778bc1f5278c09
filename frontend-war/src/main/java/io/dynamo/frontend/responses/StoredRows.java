package io.dynamo.frontend.responses;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Looks up stored responses. For one thread. */
interface StoredRows {
  /** The rows of a database that has no table yet. */
  StoredRows NONE =
      new StoredRows() {
        @Override
        public @Nullable Entry entry(String id, long sinceMillis) {
          return null;
        }

        @Override
        public @Nullable StoredResponse find(String id, long sinceMillis) {
          return null;
        }
      };

  /**
   * A response without its texts.
   *
   * @param bytes as {@link StoredResponse#bytes()} counts them
   */
  record Entry(String id, @Nullable String previousId, long bytes) {}

  /**
   * Returns the entry of a response without loading its texts; null when there is none.
   *
   * @param sinceMillis the time of the oldest that counts
   */
  @Nullable Entry entry(String id, long sinceMillis) throws SQLException;

  /**
   * Returns a response; null for none.
   *
   * @param sinceMillis the time of the oldest that counts
   */
  @Nullable StoredResponse find(String id, long sinceMillis) throws SQLException;
}
