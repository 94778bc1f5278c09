package io.dynamo.frontend.responses;

import java.io.ByteArrayInputStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Statements with values on one connection, for one thread. */
public record Sql(Connection connection) {
  private static final String ALREADY_THERE = "23505"; // of a unique key, in H2 and PostgreSQL
  private static final String UNKNOWN_NAME = "42"; // the class of such states

  /** Reads one row. */
  public interface Row<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Several statements. */
  public interface Statements<T> {
    T run() throws SQLException;
  }

  public int update(String sql, Object... values) throws SQLException {
    try (var statement = prepared(sql, values)) {
      return statement.executeUpdate();
    }
  }

  public <T> List<T> query(Row<T> row, String sql, Object... values) throws SQLException {
    var rows = new ArrayList<T>();
    try (var statement = prepared(sql, values);
        var found = statement.executeQuery()) {
      while (found.next()) {
        rows.add(row.read(found));
      }
    }
    return rows;
  }

  /** Returns the one number that the query gives. */
  public long number(String sql, Object... values) throws SQLException {
    return query(row -> row.getLong(1), sql, values).getFirst();
  }

  private PreparedStatement prepared(String sql, Object... values) throws SQLException {
    var statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      if (values[i] instanceof byte[] bytes) { // as a stream: H2 bounds other values to 1 MiB
        statement.setBinaryStream(i + 1, new ByteArrayInputStream(bytes), bytes.length);
      } else {
        statement.setObject(i + 1, values[i]);
      }
    }
    return statement;
  }

  /** Runs all statements or none. */
  public <T> T atomically(Statements<T> statements) throws SQLException {
    connection.setAutoCommit(false);
    boolean done = false;
    try {
      var result = statements.run();
      connection.commit();
      done = true;
      return result;
    } finally {
      if (!done) {
        connection.rollback();
      }
      connection.setAutoCommit(true);
    }
  }

  public void execute(String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  public boolean exists(String table) throws SQLException {
    try (var statement = connection.createStatement();
        var _ = statement.executeQuery("SELECT 1 FROM " + table + " WHERE 1 = 0")) {
      return true;
    } catch (SQLException e) {
      if (e.getSQLState() != null && e.getSQLState().startsWith(UNKNOWN_NAME)) {
        return false;
      }
      throw e;
    }
  }

  /** Whether the row of a key was there already. */
  public static boolean isDuplicate(SQLException e) {
    return ALREADY_THERE.equals(e.getSQLState());
  }
}
