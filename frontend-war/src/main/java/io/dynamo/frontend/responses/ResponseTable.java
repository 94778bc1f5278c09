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
final class ResponseTable implements StoredRows {
  private static final int DELETED_AT_ONCE = 500;
  private static final String UNKNOWN_NAME = "42"; // the class of such states
  private static final String ALREADY_THERE = "23505"; // of a unique key, in H2 and PostgreSQL

  private final Connection connection;

  ResponseTable(Connection connection) {
    this.connection = connection;
  }

  /**
   * Creates the table with its index where there is none. It is one statement, so that no server
   * leaves half of it behind.
   */
  void create(Database database) throws SQLException {
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
            answer %s NOT NULL,
            CONSTRAINT dynamo_responses_created UNIQUE (created, id))
          """
              .formatted(database.bytesType(), database.bytesType()));
    } catch (SQLException e) {
      if (!exists()) { // another frontend did not create it at the same time
        throw e;
      }
    }
  }

  boolean exists() throws SQLException {
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
   * Adds responses, and their turns to conversations that are there. What is there already stays:
   * the answer to an earlier commit may have been lost.
   */
  void add(List<PendingWrite> writes) throws SQLException {
    var conversations = new ConversationTable(new Sql(connection));
    connection.setAutoCommit(false);
    try {
      for (var write : writes) {
        if (write.response() != null) {
          insert(write.response());
        }
        if (write.turn() != null) {
          conversations.appendWithin(write.turn(), ConversationTable.AppendBounds.NONE);
        }
      }
      connection.commit();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      connection.rollback();
      connection.setAutoCommit(true);
      if (!ALREADY_THERE.equals(e.getSQLState())) {
        throw e;
      }
      for (var write : writes) {
        if (write.response() != null) {
          addUnlessThere(write.response());
        }
        if (write.turn() != null) {
          conversations.append(write.turn(), ConversationTable.AppendBounds.NONE);
        }
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

  @Override
  public @Nullable Entry entry(String id, long sinceMillis) throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT previous_id, bytes FROM dynamo_responses WHERE id = ? AND created >= ?")) {
      select.setString(1, id);
      select.setLong(2, sinceMillis);
      try (var row = select.executeQuery()) {
        return row.next() ? new Entry(id, row.getString(1), row.getLong(2)) : null;
      }
    }
  }

  @Override
  public @Nullable StoredResponse find(String id, long sinceMillis) throws SQLException {
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

  /** Deletes some that were created before a time; returns whether there may be more. */
  boolean deleteBefore(long millis) throws SQLException {
    try (var delete =
        connection.prepareStatement(
            "DELETE FROM dynamo_responses WHERE id IN (SELECT id FROM dynamo_responses"
                + " WHERE created < ? ORDER BY created, id LIMIT "
                + DELETED_AT_ONCE
                + ")")) {
      delete.setLong(1, millis);
      return delete.executeUpdate() >= DELETED_AT_ONCE;
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

  /**
   * Deletes some of the oldest responses towards the bounds; returns about how many rows and bytes
   * remain.
   */
  Extent trim(Extent present, long maxRows, long maxBytes) throws SQLException {
    var left = present;
    var oldest = new ArrayList<String>();
    try (var select =
            connection.prepareStatement(
                "SELECT id, bytes FROM dynamo_responses ORDER BY created, id LIMIT "
                    + DELETED_AT_ONCE);
        var row = select.executeQuery()) {
      while (row.next() && !left.isWithin(maxRows, maxBytes)) {
        oldest.add(row.getString(1));
        left = new Extent(left.rows() - 1, left.bytes() - row.getLong(2));
      }
    }
    if (oldest.isEmpty()) {
      return new Extent(0, 0); // others deleted meanwhile
    }
    try (var delete = connection.prepareStatement("DELETE FROM dynamo_responses WHERE id = ?")) {
      for (var id : oldest) {
        delete.setString(1, id);
        delete.addBatch();
      }
      delete.executeBatch();
    }
    return left;
  }
}
