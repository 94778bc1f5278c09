package io.dynamo.frontend.batches;

import io.dynamo.config.frontend.BatchesSettings;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.responses.Sql;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Keeps the files of clients in pieces, within bounds. A file is seen when it is complete. Safe for
 * concurrent use; callers wait for the database, a few seconds at most.
 */
public final class FileStore {
  /** Bytes of a piece of an upload. */
  public static final int PIECE_BYTES = 256 * 1024;

  private static final System.Logger LOG = System.getLogger(FileStore.class.getName());
  private static final String PURPOSE = "batch";
  private static final long UPLOAD_MILLIS = 3_600_000; // then what is not complete is deleted
  private static final int PIECES_AT_ONCE = 64;
  private static final int DELETED_AT_ONCE = 500;

  private final BatchDatabase database;
  private final BatchesSettings settings;
  private final InstantSource clock;

  FileStore(BatchDatabase database, BatchesSettings settings, InstantSource clock) {
    this.database = database;
    this.settings = settings;
    this.clock = clock;
  }

  /** A file that arrives. For one thread. */
  public final class Upload implements AutoCloseable {
    private final String id = Owners.newFile();
    private final String owner;
    private final long created = clock.millis();
    private long pieces;
    private long bytes;
    private boolean complete;

    private Upload(String owner) throws InterruptedException {
      this.owner = owner;
      database.write(
          sql -> {
            if (sql.number("SELECT COUNT(*) FROM dynamo_files") >= settings.maxFiles()) {
              throw full(
                  "%d files are kept, the most that dynamo.frontend.batches.max-files allows"
                      .formatted(settings.maxFiles()));
            }
            return addFile(
                sql, new StoredFile(id, owner, created, created + UPLOAD_MILLIS, 0, "", PURPOSE));
          });
    }

    public long bytes() {
      return bytes;
    }

    /**
     * Adds bytes at the end.
     *
     * @throws ApiException with 413 when there is no room, with 503 when the database is down
     */
    public void append(byte[] content) throws InterruptedException {
      if (bytes + content.length > settings.maxFileBytes()) {
        throw new ApiException(
            413,
            "The file has more than the %d bytes of dynamo.frontend.batches.max-file; send less"
                .formatted(settings.maxFileBytes()));
      }
      long piece = pieces;
      long total =
          database.write(
              sql -> {
                if (!addPiece(sql, id, piece, content)) {
                  throw late();
                }
                return sql.number("SELECT COALESCE(SUM(bytes), 0) FROM dynamo_files");
              });
      if (total > settings.maxBytes()) {
        throw full(
            "the files that are kept fill the %d bytes of dynamo.frontend.batches.max-bytes"
                .formatted(settings.maxBytes()));
      }
      pieces++;
      bytes += content.length;
    }

    /** Makes the file one that can be seen and used. */
    public StoredFile complete(String name, Duration keep) throws InterruptedException {
      long expiresMillis = created + keep.toMillis();
      database.write(
          sql -> {
            int shown =
                sql.update(
                    "UPDATE dynamo_files SET ready = 1, expires = ?, name = ? WHERE id = ?",
                    expiresMillis,
                    name,
                    id);
            if (shown == 0) {
              throw late();
            }
            return persist(sql);
          });
      complete = true;
      return new StoredFile(id, owner, created, expiresMillis, bytes, name, PURPOSE);
    }

    private ApiException late() {
      return new ApiException(
          408, "The file did not arrive within an hour and was deleted; send it faster");
    }

    /** Deletes a file that did not become complete; later where the database is down. */
    @Override
    public void close() {
      if (complete) {
        return;
      }
      try {
        deleteFile(id);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ApiException e) {
        LOG.log(Level.DEBUG, "a file that is not complete stays for a while", e);
      }
    }
  }

  private static ApiException full(String what) {
    return new ApiException(
        new ApiError(
            413,
            what + "; delete some, or wait until some are too old",
            "storage_full",
            null,
            null));
  }

  /** Starts a file. To be closed. */
  public Upload upload(String owner) throws InterruptedException {
    return new Upload(owner);
  }

  static int addFile(Sql sql, StoredFile file) throws SQLException {
    try {
      return sql.update(
          "INSERT INTO dynamo_files (id, owner, created, expires, bytes, ready, name, purpose)"
              + " VALUES (?, ?, ?, ?, ?, 0, ?, ?)",
          file.id(),
          file.owner(),
          file.createdMillis(),
          file.expiresMillis(),
          file.bytes(),
          file.name(),
          file.purpose());
    } catch (SQLException e) {
      if (Sql.isDuplicate(e)) {
        return 0; // by this very call, whose answer was lost
      }
      throw e;
    }
  }

  /**
   * Adds a piece unless it is there: an answer of the database may have been lost.
   *
   * @return false when its file is not there; nothing is written then
   */
  private static boolean addPiece(Sql sql, String file, long piece, byte[] content)
      throws SQLException {
    try {
      return sql.atomically(() -> insertPiece(sql, file, piece, content));
    } catch (SQLException e) {
      if (Sql.isDuplicate(e)) {
        return true;
      }
      throw e;
    }
  }

  /** Adds a piece to a file that is there; returns whether it is. Called within a transaction. */
  static boolean insertPiece(Sql sql, String file, long piece, byte[] content) throws SQLException {
    int files =
        sql.update(
            "UPDATE dynamo_files SET bytes = bytes + ? WHERE id = ?", (long) content.length, file);
    return files > 0
        && sql.update(
                "INSERT INTO dynamo_file_pieces (file_id, piece, bytes, content) VALUES (?, ?, ?,"
                    + " ?)",
                file,
                piece,
                (long) content.length,
                content)
            > 0;
  }

  /** Makes a file of results one that clients see; one without lines is deleted. */
  static String show(Sql sql, String file, long expiresMillis) throws SQLException {
    if (file.isEmpty()) {
      return "";
    }
    if (sql.number("SELECT COUNT(*) FROM dynamo_file_pieces WHERE file_id = ?", file) == 0) {
      sql.update("DELETE FROM dynamo_files WHERE id = ?", file);
      return "";
    }
    sql.update("UPDATE dynamo_files SET ready = 1, expires = ? WHERE id = ?", expiresMillis, file);
    return file;
  }

  /** Has the embedded database write to its file now: it would take up to half a second. */
  static boolean persist(Sql sql) throws SQLException {
    if (sql.connection().getMetaData().getDatabaseProductName().equals("H2")) {
      sql.execute("CHECKPOINT SYNC");
    }
    return true;
  }

  /** Finds a complete file of an owner. */
  public Optional<StoredFile> find(String owner, String id) throws InterruptedException {
    return Owners.isPossible(id)
        ? database.read(Optional.empty(), sql -> found(sql, owner, id, clock.millis()))
        : Optional.empty();
  }

  static Optional<StoredFile> found(Sql sql, String owner, String id, long now)
      throws SQLException {
    return sql
        .query(
            BatchTables::file,
            BatchTables.FILE + " WHERE id = ? AND owner = ? AND ready = 1 AND expires > ?",
            id,
            owner,
            now)
        .stream()
        .findFirst();
  }

  /**
   * Lists complete files of an owner.
   *
   * @param purpose empty for any
   * @throws ApiException with 400 when the page begins after a file that is not there
   */
  public Listing.Entries<StoredFile> list(String owner, Listing.Page page, String purpose)
      throws InterruptedException {
    return database.read(
        Listing.Entries.none(),
        sql ->
            Listing.read(
                sql,
                page,
                BatchTables::file,
                BatchTables.FILE
                    + " WHERE owner = ? AND ready = 1 AND expires > ? AND (? = '' OR purpose = ?)",
                List.of(owner, clock.millis(), purpose, purpose),
                id -> found(sql, owner, id, 0).map(StoredFile::createdMillis)));
  }

  /**
   * Deletes a file of an owner; returns whether it was there.
   *
   * @throws ApiException with 400 when a batch still reads it
   */
  public boolean delete(String owner, String id) throws InterruptedException {
    if (find(owner, id).isEmpty()) {
      return false;
    }
    boolean deleted =
        database.write(
            sql -> {
              var readers =
                  sql.query(
                      row -> row.getString(1),
                      "SELECT id FROM dynamo_batches WHERE ended = 0 AND input_file = ?",
                      id);
              if (!readers.isEmpty()) {
                throw new ApiException(
                    400,
                    "the file is the input of %s, which has not ended; cancel that first"
                        .formatted(readers.getFirst()));
              }
              return sql.update("UPDATE dynamo_files SET ready = 0, expires = 0 WHERE id = ?", id)
                  > 0;
            });
    deleteFile(id);
    return deleted;
  }

  /** Deletes a file; also a piece that a late statement adds while it is being deleted. */
  private void deleteFile(String id) throws InterruptedException {
    deletePieces(id);
    database.write(sql -> sql.update("DELETE FROM dynamo_files WHERE id = ?", id));
    deletePieces(id);
  }

  /** Deletes all pieces of a file, in steps. */
  void deletePieces(String file) throws InterruptedException {
    int deleted = DELETED_AT_ONCE;
    while (deleted >= DELETED_AT_ONCE) {
      deleted =
          database.write(
              sql ->
                  sql.update(
                      "DELETE FROM dynamo_file_pieces WHERE file_id = ? AND piece IN (SELECT piece"
                          + " FROM dynamo_file_pieces WHERE file_id = ? ORDER BY piece LIMIT "
                          + DELETED_AT_ONCE
                          + ")",
                      file,
                      file));
    }
  }

  /** Deletes files whose time is over. */
  void deleteExpired() throws InterruptedException {
    for (var expired = expired(); !expired.isEmpty(); expired = expired()) {
      for (var id : expired) {
        deleteFile(id);
      }
    }
  }

  private List<String> expired() throws InterruptedException {
    return database.read(
        List.of(),
        sql ->
            sql.query(
                row -> row.getString(1),
                "SELECT id FROM dynamo_files WHERE expires <= ? AND id NOT IN (SELECT"
                    + " input_file FROM dynamo_batches WHERE ended = 0) LIMIT 100",
                clock.millis()));
  }

  /** Whether the files that are kept leave no room for results. */
  boolean isFull() throws InterruptedException {
    return database.read(
        false,
        sql ->
            sql.number("SELECT COALESCE(SUM(bytes), 0) FROM dynamo_files") > settings.maxBytes());
  }

  /**
   * A run of pieces that are read together.
   *
   * @param bytes of all of them
   */
  public record PieceRun(String file, long first, long last, long bytes) {}

  /**
   * Measures the next pieces of a file without loading them: a few, or one that is large.
   *
   * @param from the number of the first, or of one before it
   */
  public Optional<PieceRun> next(String file, long from) throws InterruptedException {
    record Size(long piece, long bytes) {}
    var sizes =
        database.read(
            List.<Size>of(),
            sql ->
                sql.query(
                    row -> new Size(row.getLong(1), row.getLong(2)),
                    "SELECT piece, bytes FROM dynamo_file_pieces WHERE file_id = ? AND piece >= ?"
                        + " ORDER BY piece LIMIT "
                        + PIECES_AT_ONCE,
                    file,
                    from));
    if (sizes.isEmpty()) {
      return Optional.empty();
    }
    long last = sizes.getFirst().piece();
    long bytes = 0;
    for (var size : sizes) {
      if (bytes > 0 && bytes + size.bytes() > PIECE_BYTES) {
        break;
      }
      bytes += size.bytes();
      last = size.piece();
    }
    return Optional.of(new PieceRun(file, sizes.getFirst().piece(), last, bytes));
  }

  /** Loads pieces. */
  public List<byte[]> load(PieceRun run) throws InterruptedException {
    return database.read(
        List.of(),
        sql ->
            sql.query(
                row -> row.getBytes(1),
                "SELECT content FROM dynamo_file_pieces WHERE file_id = ? AND piece BETWEEN ? AND ?"
                    + " ORDER BY piece",
                run.file(),
                run.first(),
                run.last()));
  }
}
