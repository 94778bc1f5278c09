package io.dynamo.frontend.responses;

import java.io.ByteArrayInputStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the table of responses, for one connection and one thread. Rows are never
 * changed.
 */
final class ResponseTable {
  private static final int TRIMMED_AT_ONCE = 500;
  private static final String UNKNOWN_NAME = "42"; // the class of such states
  private static final String ALREADY_THERE = "23505"; // of a unique key, in H2 and PostgreSQL

  private final Connection connection;

  ResponseTable(Connection connection) {
    this.connection = connection;
  }

  /**
   * Opens a connection to a database with the table. One thread at a time: creating it twice at
   * once fails.
   */
  static Connection connect(Database database) throws SQLException {
    synchronized (database) {
      var opened = database.open();
      try {
        new ResponseTable(opened).create(database);
        return opened;
      } catch (SQLException e) {
        opened.close();
        throw e;
      }
    }
  }

  /** Creates the table where there is none. */
  private void create(Database database) throws SQLException {
    if (exists()) {
      return; // without asking for the right to create one
    }
    try (var statement = connection.createStatement()) {
      statement.execute(
          """
          CREATE TABLE IF NOT EXISTS dynamo_responses (
            id VARCHAR(64) PRIMARY KEY,
            previous_id VARCHAR(64),
            created BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            input %s NOT NULL,
            answer %s NOT NULL)
          """
              .formatted(database.bytesType(), database.bytesType()));
      statement.execute(
          "CREATE INDEX IF NOT EXISTS dynamo_responses_created ON dynamo_responses (created, id)");
    }
  }

  private boolean exists() throws SQLException {
    try (var statement = connection.createStatement();
        var _ = statement.executeQuery("SELECT id FROM dynamo_responses WHERE 1 = 0")) {
      return true;
    } catch (SQLException e) {
      if (e.getSQLState() != null && e.getSQLState().startsWith(UNKNOWN_NAME)) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Adds responses. Those that are there already stay: the answer to an earlier commit may have
   * been lost.
   */
  void add(List<StoredResponse> responses) throws SQLException {
    connection.setAutoCommit(false);
    try {
      for (var response : responses) {
        insert(response);
      }
      connection.commit();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      connection.rollback();
      connection.setAutoCommit(true);
      if (!ALREADY_THERE.equals(e.getSQLState())) {
        throw e;
      }
      for (var response : responses) {
        addUnlessThere(response);
      }
    }
  }

  private void addUnlessThere(StoredResponse response) throws SQLException {
    try {
      insert(response);
    } catch (SQLException e) {
      if (!ALREADY_THERE.equals(e.getSQLState())) {
        throw e;
      }
    }
  }

  private void insert(StoredResponse response) throws SQLException {
    try (var insert =
        connection.prepareStatement(
            "INSERT INTO dynamo_responses (id, previous_id, created, bytes, input, answer)"
                + " VALUES (?, ?, ?, ?, ?, ?)")) {
      insert.setString(1, response.id());
      insert.setString(2, response.previousId());
      insert.setLong(3, response.createdMillis());
      insert.setLong(4, response.bytes());
      setBytes(insert, 5, response.input());
      setBytes(insert, 6, response.answer());
      insert.executeUpdate();
    }
  }

  /** As a stream: H2 bounds other parameters to 1 MiB. */
  private static void setBytes(PreparedStatement statement, int index, byte[] bytes)
      throws SQLException {
    statement.setBinaryStream(index, new ByteArrayInputStream(bytes), bytes.length);
  }

  /**
   * Returns a response.
   *
   * @param sinceMillis the time of the oldest that counts
   */
  @Nullable StoredResponse find(String id, long sinceMillis) throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT previous_id, created, input, answer FROM dynamo_responses"
                + " WHERE id = ? AND created >= ?")) {
      select.setString(1, id);
      select.setLong(2, sinceMillis);
      try (var row = select.executeQuery()) {
        return row.next()
            ? new StoredResponse(
                id, row.getString(1), row.getLong(2), row.getBytes(3), row.getBytes(4))
            : null;
      }
    }
  }

  /** Returns whether the response was there. */
  boolean delete(String id) throws SQLException {
    try (var delete = connection.prepareStatement("DELETE FROM dynamo_responses WHERE id = ?")) {
      delete.setString(1, id);
      return delete.executeUpdate() > 0;
    }
  }

  /** Deletes all that were created before a time. */
  void deleteBefore(long millis) throws SQLException {
    try (var delete =
        connection.prepareStatement("DELETE FROM dynamo_responses WHERE created < ?")) {
      delete.setLong(1, millis);
      delete.executeUpdate();
    }
  }

  /** The number of rows and their bytes. */
  record Extent(long rows, long bytes) {
    Extent with(StoredResponse added) {
      return new Extent(rows + 1, bytes + added.bytes());
    }

    boolean isWithin(long maxRows, long maxBytes) {
      return rows <= maxRows && bytes <= maxBytes;
    }
  }

  Extent extent() throws SQLException {
    try (var select =
            connection.prepareStatement(
                "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM dynamo_responses");
        var row = select.executeQuery()) {
      row.next();
      return new Extent(row.getLong(1), row.getLong(2));
    }
  }

  /** Deletes the oldest until the rest is within the bounds; returns what is left. */
  Extent trim(Extent present, long maxRows, long maxBytes) throws SQLException {
    var left = present;
    while (!left.isWithin(maxRows, maxBytes)) {
      var oldest = new ArrayList<String>();
      try (var select =
          connection.prepareStatement(
              "SELECT id, bytes FROM dynamo_responses ORDER BY created, id LIMIT "
                  + TRIMMED_AT_ONCE)) {
        try (var row = select.executeQuery()) {
          while (row.next() && !left.isWithin(maxRows, maxBytes)) {
            oldest.add(row.getString(1));
            left = new Extent(left.rows() - 1, left.bytes() - row.getLong(2));
          }
        }
      }
      if (oldest.isEmpty()) {
        return extent(); // somebody else deleted meanwhile
      }
      try (var delete = connection.prepareStatement("DELETE FROM dynamo_responses WHERE id = ?")) {
        for (var id : oldest) {
          delete.setString(1, id);
          delete.addBatch();
        }
        delete.executeBatch();
      }
    }
    return left;
  }
}
