package io.dynamo.frontend.batches;

import io.dynamo.frontend.responses.Sql;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tells which frontend runs which batch. Each claim has a token that no other one has, and every
 * change names it: once another frontend has taken a batch over, nothing of an earlier claim is
 * written any more. Safe for concurrent use; callers wait for the database, a few seconds at most.
 */
final class BatchClaims {
  /** How long a frontend has a batch whose claim it does not renew. */
  static final Duration LEASE = Duration.ofSeconds(60);

  private static final String OURS = " WHERE id = ? AND runner = ? AND ended = 0";

  private final BatchDatabase database;
  private final InstantSource clock;
  private final boolean alone;

  /**
   * @param alone whether no other process has the database: what an earlier run had is ours at once
   */
  BatchClaims(BatchDatabase database, InstantSource clock, boolean alone) {
    this.database = database;
    this.clock = clock;
    this.alone = alone;
  }

  /** The condition on batches that may be claimed now. */
  private String unclaimed() {
    return alone ? "" : " AND lease < " + clock.millis();
  }

  /**
   * A batch that is ours.
   *
   * @param token of this claim alone
   */
  record Claim(StoredBatch batch, String token) {}

  /** How many lines of a claimed batch have results. */
  record Progress(Claim claim, long completed, long failed) {}

  /** The ids of batches that have not ended and may be claimed, the oldest first. */
  List<String> claimable(int limit) throws InterruptedException {
    return database.read(
        List.of(),
        sql ->
            sql.query(
                row -> row.getString(1),
                "SELECT id FROM dynamo_batches WHERE ended = 0"
                    + unclaimed()
                    + " ORDER BY created, id LIMIT "
                    + limit));
  }

  /** Takes a batch; empty when another frontend has it or it has ended. */
  Optional<Claim> claim(String id) throws InterruptedException {
    var token = Owners.random();
    return database.write(
        sql -> {
          sql.update(
              "UPDATE dynamo_batches SET runner = ?, lease = ? WHERE id = ? AND ended = 0"
                  + unclaimed(),
              token,
              clock.millis() + LEASE.toMillis(),
              id);
          return sql.query(BatchTables::batch, BatchTables.BATCH + OURS, id, token).stream()
              .findFirst()
              .map(batch -> new Claim(batch, token));
        });
  }

  /**
   * Keeps batches for another while, and notes how far they are.
   *
   * @return the status of each by its id; without those that are not ours any more or have ended
   */
  Map<String, BatchStatus> renew(List<Progress> claimed) throws InterruptedException {
    return database.read(
        Map.of(),
        sql -> {
          var kept = new HashMap<String, BatchStatus>();
          for (var one : claimed) {
            var id = one.claim().batch().id();
            var token = one.claim().token();
            sql.update(
                "UPDATE dynamo_batches SET lease = ?, completed = ?, failed = ?" + OURS,
                clock.millis() + LEASE.toMillis(),
                one.completed(),
                one.failed(),
                id,
                token);
            sql.query(
                    row -> row.getString(1), "SELECT status FROM dynamo_batches" + OURS, id, token)
                .forEach(status -> kept.put(id, BatchStatus.of(status)));
          }
          return kept;
        });
  }

  /** Lets other frontends take a batch at once. */
  void release(Claim claim) throws InterruptedException {
    database.write(
        sql ->
            sql.update(
                "UPDATE dynamo_batches SET lease = 0, runner = ''" + OURS,
                claim.batch().id(),
                claim.token()));
  }

  /** Notes that a batch's input is well, unless it was cancelled meanwhile. */
  boolean begin(Claim claim, long total) throws InterruptedException {
    return database.write(
        sql ->
            sql.update(
                    "UPDATE dynamo_batches SET total = ?, started = ?, status = CASE WHEN status ="
                        + " 'validating' THEN 'in_progress' ELSE status END"
                        + OURS,
                    total,
                    clock.millis(),
                    claim.batch().id(),
                    claim.token())
                > 0);
  }

  /** The numbers of the lines that have a line in a file of results. */
  BitSet done(String file) throws InterruptedException {
    var done = new BitSet();
    for (var numbers = pieces(file, 0); !numbers.isEmpty(); ) {
      numbers.forEach(number -> done.set(Math.toIntExact(number)));
      numbers = pieces(file, numbers.getLast() + 1);
    }
    return done;
  }

  private List<Long> pieces(String file, long from) throws InterruptedException {
    return database.read(
        List.of(),
        sql ->
            sql.query(
                row -> row.getLong(1),
                "SELECT piece FROM dynamo_file_pieces WHERE file_id = ? AND piece >= ?"
                    + " ORDER BY piece LIMIT 10000",
                file,
                from));
  }

  /**
   * Adds the line of a result; once, however often it is called.
   *
   * @return false when the batch is not ours any more: nothing is written
   */
  boolean addResult(Claim claim, String file, int number, byte[] line) throws InterruptedException {
    return database.write(
        sql -> {
          try {
            return sql.atomically(
                () -> isLocked(sql, claim) && FileStore.insertPiece(sql, file, number, line));
          } catch (SQLException e) {
            if (Sql.isDuplicate(e)) {
              return true; // by this very call, whose answer was lost
            }
            throw e;
          }
        });
  }

  /** Whether a batch is ours, and stays so until the statements around this one are done. */
  private static boolean isLocked(Sql sql, Claim claim) throws SQLException {
    return !sql.query(
            row -> row.getString(1),
            "SELECT id FROM dynamo_batches" + OURS + " FOR UPDATE",
            claim.batch().id(),
            claim.token())
        .isEmpty();
  }

  /**
   * Ends a batch, and shows the files of results that have lines.
   *
   * @param errors of its input, JSON, or empty
   * @return false when the batch is not ours any more: nothing is changed
   */
  boolean end(Claim claim, BatchStatus status, long completed, long failed, String errors)
      throws InterruptedException {
    var batch = claim.batch();
    return database.write(
        sql -> {
          long now = clock.millis();
          boolean isOurs =
              sql.atomically(
                  () -> {
                    if (!isLocked(sql, claim)) {
                      return false;
                    }
                    long expires = now + batch.keep().toMillis();
                    var output = FileStore.show(sql, batch.outputFile(), expires);
                    var error = FileStore.show(sql, batch.errorFile(), expires);
                    return sql.update(
                            "UPDATE dynamo_batches SET status = ?, ended = ?, completed = ?,"
                                + " failed = ?, errors = ?, output_file = ?, error_file = ?"
                                + OURS,
                            status.label(),
                            now,
                            completed,
                            failed,
                            errors,
                            output,
                            error,
                            batch.id(),
                            claim.token())
                        > 0;
                  });
          return isOurs && FileStore.persist(sql);
        });
  }
}
