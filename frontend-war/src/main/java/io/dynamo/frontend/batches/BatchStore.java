package io.dynamo.frontend.batches;

import io.dynamo.config.frontend.BatchesSettings;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.responses.Database;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Keeps batches, and which frontend runs each. Safe for concurrent use; callers wait for the
 * database, a few seconds at most.
 */
public final class BatchStore implements AutoCloseable {
  /** How long a frontend has a batch that it does not claim again. */
  static final Duration LEASE = Duration.ofSeconds(60);

  private static final String UNFINISHED = " WHERE ended = 0";

  private final BatchesSettings settings;
  private final BatchDatabase database;
  private final FileStore files;
  private final InstantSource clock;
  private final String runner;

  /** Opens the store; the database is touched by the first call that needs it. */
  public BatchStore(BatchesSettings settings, ResponsesSettings database, InstantSource clock) {
    this(
        settings,
        Database.of(database),
        clock,
        // nobody else opens an embedded database: what an earlier run had is ours at once
        database.database() == null ? "embedded" : Owners.random(),
        BatchDatabase.WAIT);
  }

  /**
   * Opens the store.
   *
   * @param wait the longest time for an answer of the database
   */
  public BatchStore(
      BatchesSettings settings, ResponsesSettings database, InstantSource clock, Duration wait) {
    this(
        settings,
        Database.of(database),
        clock,
        database.database() == null ? "embedded" : Owners.random(),
        wait);
  }

  private BatchStore(
      BatchesSettings settings,
      Database database,
      InstantSource clock,
      String runner,
      Duration wait) {
    this.settings = settings;
    this.database = new BatchDatabase(database, wait);
    this.files = new FileStore(this.database, settings, clock);
    this.clock = clock;
    this.runner = runner;
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

  /** How long files are kept of which the client wants {@code seconds}, 0 for no wish. */
  public Duration keep(long seconds) {
    var most = settings.maxAge();
    var wanted = Duration.ofSeconds(seconds);
    return seconds == 0 || wanted.compareTo(most) > 0 ? most : wanted;
  }

  long now() {
    return clock.millis();
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
    long now = now();
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
          if (FileStore.found(sql, wanted.owner(), wanted.inputFile(), now).isEmpty()) {
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
    if (sql.number("SELECT COUNT(*) FROM dynamo_batches") >= settings.maxBatches()) {
      throw new ApiException(
          ApiError.overloaded(
              429,
              "%d batches are kept, the most that dynamo.frontend.batches.max-batches allows; ended ones are deleted by their age"
                  .formatted(settings.maxBatches()),
              60));
    }
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
        Listing.Entries.of(List.of(), 1),
        sql -> {
          var edge = page.anywhere();
          if (!page.after().isEmpty()) {
            var after =
                found(sql, owner, page.after())
                    .orElseThrow(() -> Listing.unknownAfter(page.after()));
            edge = new Object[] {after.createdMillis(), after.createdMillis(), after.id()};
          }
          return Listing.Entries.of(
              sql.query(
                  BatchTables::batch,
                  BatchTables.BATCH + " WHERE owner = ?" + page.behind() + page.order(),
                  Stream.concat(Stream.<Object>of(owner), Stream.of(edge)).toArray()),
              page.limit());
        });
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
              now(),
              id);
          FileStore.persist(sql);
          return found(sql, owner, id);
        });
  }

  /**
   * The ids of batches that have not ended and that nobody runs, or this frontend, the oldest
   * first.
   */
  List<String> claimable(int limit) throws InterruptedException {
    return database.read(
        List.of(),
        sql ->
            sql.query(
                row -> row.getString(1),
                "SELECT id FROM dynamo_batches"
                    + UNFINISHED
                    + " AND (runner = ? OR lease < ?) ORDER BY created, id LIMIT "
                    + limit,
                runner,
                now()));
  }

  /** Takes or keeps a batch for a while; empty when another frontend has it or it has ended. */
  Optional<StoredBatch> claim(String id) throws InterruptedException {
    return database.write(
        sql -> {
          int taken =
              sql.update(
                  "UPDATE dynamo_batches SET runner = ?, lease = ? WHERE id = ? AND ended = 0"
                      + " AND (runner = ? OR lease < ?)",
                  runner,
                  now() + LEASE.toMillis(),
                  id,
                  runner,
                  now());
          return taken == 0
              ? Optional.empty()
              : sql.query(BatchTables::batch, BatchTables.BATCH + " WHERE id = ?", id).stream()
                  .findFirst();
        });
  }

  /** Lets other frontends take a batch at once. */
  void release(String id) throws InterruptedException {
    database.write(
        sql ->
            sql.update(
                "UPDATE dynamo_batches SET lease = 0, runner = '' WHERE id = ? AND runner = ?",
                id,
                runner));
  }

  /** Notes that a batch's input is well, unless it was cancelled meanwhile. */
  void begin(String id, long total) throws InterruptedException {
    database.write(
        sql ->
            sql.update(
                "UPDATE dynamo_batches SET total = ?, started = ?, status = CASE WHEN status ="
                    + " 'validating' THEN 'in_progress' ELSE status END WHERE id = ? AND runner ="
                    + " ?",
                total,
                now(),
                id,
                runner));
  }

  void progress(String id, long completed, long failed) throws InterruptedException {
    database.write(
        sql ->
            sql.update(
                "UPDATE dynamo_batches SET completed = ?, failed = ? WHERE id = ? AND runner = ?",
                completed,
                failed,
                id,
                runner));
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

  /** Adds the line of a result; once, however often it is called. */
  void addResult(String file, int number, byte[] line) throws InterruptedException {
    database.write(
        sql -> {
          FileStore.addPiece(sql, file, number, line);
          return true;
        });
  }

  /**
   * Ends a batch, and shows the files of results that have lines.
   *
   * @param errors of its input, JSON, or empty
   */
  void end(StoredBatch batch, BatchStatus status, long completed, long failed, String errors)
      throws InterruptedException {
    long now = now();
    database.write(
        sql -> {
          sql.atomically(
              () -> {
                var output = shown(sql, batch.outputFile(), now + batch.keep().toMillis());
                var error = shown(sql, batch.errorFile(), now + batch.keep().toMillis());
                return sql.update(
                    "UPDATE dynamo_batches SET status = ?, ended = ?, completed = ?, failed = ?,"
                        + " errors = ?, output_file = ?, error_file = ? WHERE id = ? AND ended = 0"
                        + " AND runner = ?",
                    status.label(),
                    now,
                    completed,
                    failed,
                    errors,
                    output,
                    error,
                    batch.id(),
                    runner);
              });
          return FileStore.persist(sql);
        });
  }

  /** Makes a file of results one that clients see; one without lines is deleted. */
  private static String shown(Sql sql, String file, long expires) throws SQLException {
    if (file.isEmpty()) {
      return "";
    }
    if (sql.number("SELECT COUNT(*) FROM dynamo_file_pieces WHERE file_id = ?", file) == 0) {
      sql.update("DELETE FROM dynamo_files WHERE id = ?", file);
      return "";
    }
    sql.update("UPDATE dynamo_files SET ready = 1, expires = ? WHERE id = ?", expires, file);
    return file;
  }

  /** Deletes what is too old. */
  void deleteExpired() throws InterruptedException {
    files.deleteExpired();
    database.read(
        0,
        sql ->
            sql.update(
                "DELETE FROM dynamo_batches WHERE ended > 0 AND ended < ?",
                now() - settings.maxAge().toMillis()));
  }

  @Override
  public void close() {
    database.close();
  }
}
