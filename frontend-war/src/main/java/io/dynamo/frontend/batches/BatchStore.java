package io.dynamo.frontend.batches;

import io.dynamo.config.frontend.BatchesSettings;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.responses.Database;
import io.dynamo.frontend.responses.Sql;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Keeps the batches of clients, within bounds. Safe for concurrent use; callers wait for the
 * database, a few seconds at most.
 */
public final class BatchStore implements AutoCloseable {
  private final BatchesSettings settings;
  private final BatchDatabase database;
  private final FileStore files;
  private final BatchClaims claims;
  private final InstantSource clock;

  /** Opens the store; the database is touched by the first call that needs it. */
  public BatchStore(BatchesSettings settings, ResponsesSettings database, InstantSource clock) {
    this(settings, database, clock, BatchDatabase.WAIT);
  }

  /**
   * Opens the store.
   *
   * @param wait the longest time for an answer of the database
   */
  public BatchStore(
      BatchesSettings settings, ResponsesSettings database, InstantSource clock, Duration wait) {
    boolean alone = database.database() == null; // nobody else opens an embedded database
    this.settings = settings;
    this.database = new BatchDatabase(Database.of(database), wait);
    this.files = new FileStore(this.database, settings, clock);
    this.claims = new BatchClaims(this.database, clock, alone);
    this.clock = clock;
  }

  /** Whether files and batches are served. */
  public boolean isOn() {
    return settings.enabled();
  }

  public BatchesSettings settings() {
    return settings;
  }

  public FileStore files() {
    return files;
  }

  BatchClaims claims() {
    return claims;
  }

  InstantSource clock() {
    return clock;
  }

  /** How long files are kept of which the client wants {@code seconds}, 0 for no wish. */
  public Duration keep(long seconds) {
    var most = settings.maxAge();
    var wanted = Duration.ofSeconds(seconds);
    return seconds == 0 || wanted.compareTo(most) > 0 ? most : wanted;
  }

  /**
   * A batch as a client requests it.
   *
   * @param keep how long the files of results are kept
   */
  public record NewBatch(
      String owner,
      String tenant,
      String endpoint,
      String inputFile,
      String window,
      Duration time,
      Duration keep,
      String metadata) {}

  /**
   * Creates a batch, to be run soon.
   *
   * @throws ApiException with 400 when its input is not there, with 429 when there are too many
   */
  public StoredBatch create(NewBatch wanted) throws InterruptedException {
    long now = clock.millis();
    var batch =
        new StoredBatch(
            Owners.newBatch(),
            wanted.owner(),
            wanted.tenant(),
            wanted.endpoint(),
            wanted.inputFile(),
            Owners.newFile(),
            Owners.newFile(),
            wanted.window(),
            wanted.keep(),
            wanted.metadata(),
            BatchStatus.VALIDATING,
            now,
            0,
            now + wanted.time().toMillis(),
            0,
            0,
            0,
            0,
            0,
            "");
    return database.write(
        sql -> {
          if (!Owners.isPossible(wanted.inputFile())
              || FileStore.found(sql, wanted.owner(), wanted.inputFile(), now).isEmpty()) {
            throw new ApiException(
                new ApiError(
                    400,
                    "there is no file `%s`".formatted(ApiError.shown(wanted.inputFile())),
                    "file_not_found",
                    "input_file_id",
                    null));
          }
          requireRoom(sql);
          insert(sql, batch);
          FileStore.persist(sql);
          return batch;
        });
  }

  private void requireRoom(Sql sql) throws SQLException {
    if (sql.number("SELECT COUNT(*) FROM dynamo_batches WHERE ended = 0")
        >= settings.maxBatches()) {
      throw new ApiException(
          ApiError.overloaded(
              429,
              "%d batches have not ended, the most that dynamo.frontend.batches.max-batches allows; wait for one, or cancel one"
                  .formatted(settings.maxBatches()),
              60));
    }
    forgetOldest(sql);
    if (sql.number("SELECT COUNT(*) FROM dynamo_files") + 2 > settings.maxFiles()) {
      throw new ApiException(
          new ApiError(
              413,
              "there is no room for files of results within dynamo.frontend.batches.max-files %d; delete some files"
                  .formatted(settings.maxFiles()),
              "storage_full",
              null,
              null));
    }
  }

  /** Keeps as many ended batches as there may be others: the last ones. */
  private void forgetOldest(Sql sql) throws SQLException {
    long surplus =
        sql.number("SELECT COUNT(*) FROM dynamo_batches WHERE ended > 0") - settings.maxBatches();
    if (surplus > 0) {
      sql.update(
          "DELETE FROM dynamo_batches WHERE id IN (SELECT id FROM dynamo_batches WHERE ended > 0"
              + " ORDER BY ended, id LIMIT "
              + surplus
              + ")");
    }
  }

  private static void insert(Sql sql, StoredBatch batch) throws SQLException {
    try {
      sql.atomically(
          () -> {
            for (var id : List.of(batch.outputFile(), batch.errorFile())) {
              var name = batch.id() + (id.equals(batch.outputFile()) ? "_output" : "_error");
              // expires with its batch: unseen, it is kept while that has not ended
              FileStore.addFile(
                  sql,
                  new StoredFile(
                      id,
                      batch.owner(),
                      batch.createdMillis(),
                      Long.MAX_VALUE,
                      0,
                      name + ".jsonl",
                      "batch_output"));
            }
            return sql.update(
                "INSERT INTO dynamo_batches (id, owner, tenant, endpoint, input_file, output_file,"
                    + " error_file, time_window, keep_millis, metadata, status, created, started,"
                    + " expires, cancelling, ended, total, completed, failed, errors, runner,"
                    + " lease) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, 0, 0, 0, 0, '',"
                    + " '', 0)",
                batch.id(),
                batch.owner(),
                batch.tenant(),
                batch.endpoint(),
                batch.inputFile(),
                batch.outputFile(),
                batch.errorFile(),
                batch.window(),
                batch.keep().toMillis(),
                batch.metadata(),
                batch.status().label(),
                batch.createdMillis(),
                batch.expiresMillis());
          });
    } catch (SQLException e) {
      if (!Sql.isDuplicate(e)) {
        throw e;
      }
    }
  }

  /** Finds a batch of an owner. */
  public Optional<StoredBatch> find(String owner, String id) throws InterruptedException {
    return Owners.isPossible(id)
        ? database.read(Optional.empty(), sql -> found(sql, owner, id))
        : Optional.empty();
  }

  private static Optional<StoredBatch> found(Sql sql, String owner, String id) throws SQLException {
    return sql
        .query(BatchTables::batch, BatchTables.BATCH + " WHERE id = ? AND owner = ?", id, owner)
        .stream()
        .findFirst();
  }

  /**
   * Lists the batches of an owner.
   *
   * @throws ApiException with 400 when the page begins after a batch that is not there
   */
  public Listing.Entries<StoredBatch> list(String owner, Listing.Page page)
      throws InterruptedException {
    return database.read(
        Listing.Entries.none(),
        sql ->
            Listing.read(
                sql,
                page,
                BatchTables::batch,
                BatchTables.BATCH + " WHERE owner = ?",
                List.of(owner),
                id -> found(sql, owner, id).map(StoredBatch::createdMillis)));
  }

  /** Asks a batch to end; one that has ended stays as it is. */
  public Optional<StoredBatch> cancel(String owner, String id) throws InterruptedException {
    if (find(owner, id).isEmpty()) {
      return Optional.empty();
    }
    return database.write(
        sql -> {
          sql.update(
              "UPDATE dynamo_batches SET status = 'cancelling', cancelling = ? WHERE id = ?"
                  + " AND ended = 0 AND status <> 'cancelling'",
              clock.millis(),
              id);
          FileStore.persist(sql);
          return found(sql, owner, id);
        });
  }

  /** Deletes what is too old. */
  void deleteExpired() throws InterruptedException {
    files.deleteExpired();
    database.read(
        0,
        sql ->
            sql.update(
                "DELETE FROM dynamo_batches WHERE ended > 0 AND ended < ?",
                clock.millis() - settings.maxAge().toMillis()));
  }

  @Override
  public void close() {
    database.close();
  }
}
