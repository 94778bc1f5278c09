package io.dynamo.frontend.batches;

import io.dynamo.frontend.responses.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * The tables of files and batches. A file is a row and its pieces; the pieces of a file of results
 * are its lines, each under the number of the line that it answers, so that a batch which goes on
 * knows what is done.
 */
final class BatchTables {
  static final String FILE =
      "SELECT id, owner, created, expires, bytes, name, purpose FROM dynamo_files";
  static final String BATCH =
      "SELECT id, owner, tenant, endpoint, input_file, output_file, error_file, time_window,"
          + " keep_millis, metadata, status, created, started, expires, cancelling, ended, total,"
          + " completed, failed, errors FROM dynamo_batches";

  private static final List<String> TABLES =
      List.of(
          """
          CREATE TABLE IF NOT EXISTS dynamo_files (
            id VARCHAR(64) PRIMARY KEY,
            owner VARCHAR(64) NOT NULL,
            created BIGINT NOT NULL,
            expires BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            ready INTEGER NOT NULL,
            name VARCHAR(1000) NOT NULL,
            purpose VARCHAR(64) NOT NULL)
          """,
          """
          CREATE TABLE IF NOT EXISTS dynamo_file_pieces (
            file_id VARCHAR(64) NOT NULL,
            piece BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            content %s NOT NULL,
            PRIMARY KEY (file_id, piece))
          """,
          """
          CREATE TABLE IF NOT EXISTS dynamo_batches (
            id VARCHAR(64) PRIMARY KEY,
            owner VARCHAR(64) NOT NULL,
            tenant VARCHAR(1000) NOT NULL,
            endpoint VARCHAR(128) NOT NULL,
            input_file VARCHAR(64) NOT NULL,
            output_file VARCHAR(64) NOT NULL,
            error_file VARCHAR(64) NOT NULL,
            time_window VARCHAR(16) NOT NULL,
            keep_millis BIGINT NOT NULL,
            metadata VARCHAR(100000) NOT NULL,
            status VARCHAR(16) NOT NULL,
            created BIGINT NOT NULL,
            started BIGINT NOT NULL,
            expires BIGINT NOT NULL,
            cancelling BIGINT NOT NULL,
            ended BIGINT NOT NULL,
            total BIGINT NOT NULL,
            completed BIGINT NOT NULL,
            failed BIGINT NOT NULL,
            errors VARCHAR(100000) NOT NULL,
            runner VARCHAR(64) NOT NULL,
            lease BIGINT NOT NULL)
          """);

  private BatchTables() {}

  /** Creates the tables unless they are there: the last one is looked for. */
  static void create(Sql sql, String bytesType) throws SQLException {
    if (sql.exists("dynamo_batches")) {
      return; // without asking for the right to create one
    }
    for (var table : TABLES) {
      try {
        sql.execute(table.formatted(bytesType));
      } catch (SQLException e) {
        var name = table.strip().split("\\s+", 7)[5];
        if (!sql.exists(name)) { // another frontend did not create it at the same time
          throw e;
        }
      }
    }
  }

  static StoredFile file(ResultSet row) throws SQLException {
    return new StoredFile(
        row.getString(1),
        row.getString(2),
        row.getLong(3),
        row.getLong(4),
        row.getLong(5),
        row.getString(6),
        row.getString(7));
  }

  static StoredBatch batch(ResultSet row) throws SQLException {
    return new StoredBatch(
        row.getString(1),
        row.getString(2),
        row.getString(3),
        row.getString(4),
        row.getString(5),
        row.getString(6),
        row.getString(7),
        row.getString(8),
        Duration.ofMillis(row.getLong(9)),
        row.getString(10),
        BatchStatus.of(row.getString(11)),
        row.getLong(12),
        row.getLong(13),
        row.getLong(14),
        row.getLong(15),
        row.getLong(16),
        row.getLong(17),
        row.getLong(18),
        row.getLong(19),
        row.getString(20));
  }
}
