package io.dynamo.frontend.responses;

import java.sql.Connection;
import java.sql.SQLException;

/** A database that can hold responses. Safe for concurrent use. */
interface Database {
  /**
   * Opens a connection that commits each statement. Waits no longer than a few seconds.
   *
   * @throws SQLException also when the place of the database cannot be used
   */
  Connection open() throws SQLException;

  /** The SQL type of a column of bytes without a bound. */
  String bytesType();

  /** Returns the address for logs, without credentials. */
  String place();

  /** Whether it should be opened when the server starts, before anything is stored. */
  boolean opensAtStart();

  /** Frees what the driver holds in this process. Called once, after all connections are closed. */
  void close();
}
