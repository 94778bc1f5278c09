package io.dynamo.frontend.responses;

import io.dynamo.config.frontend.ResponsesSettings;
import java.sql.Connection;
import java.sql.SQLException;

/** A database that can hold responses and batches. Safe for concurrent use. */
public interface Database {
  /** The database that the settings describe; nothing is touched before it is opened. */
  static Database of(ResponsesSettings settings) {
    var url = settings.database();
    return url == null
        ? new EmbeddedDatabase(settings.folder())
        : new PostgresDatabase(url, settings.user(), settings.password());
  }

  /**
   * Opens a connection that commits each statement; makes the place of an embedded database. Waits
   * no longer than a few seconds.
   *
   * @throws SQLException also when the place of the database cannot be used
   */
  Connection open() throws SQLException;

  /** The SQL type of a column of bytes without a bound. */
  String bytesType();

  /** Returns the address for logs, without credentials. */
  String place();

  /** Whether there may be responses of earlier runs or of others; false opens nothing to look. */
  boolean mayHoldRows();

  /** Frees resources of the driver in this process, if it was used at all. */
  void close();
}
