package io.dynamo.frontend.responses;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import org.h2.Driver;
import org.jspecify.annotations.Nullable;

/**
 * An H2 database in a file of a private folder, for this process alone. Safe for concurrent use.
 *
 * <p>H2 closes its file when a thread is interrupted while it reads, so callers use threads that
 * nobody interrupts.
 */
final class EmbeddedDatabase implements Database {
  private static final String NAME = "responses";
  private static final String FILE = NAME + ".mv.db";

  /** No trace files, which would repeat texts; closed by us alone; 16 MiB of pages in memory. */
  private static final String OPTIONS =
      ";TRACE_LEVEL_FILE=0;DB_CLOSE_ON_EXIT=FALSE;FILE_LOCK=FS;CACHE_SIZE=16384";

  private static final String CANNOT_OPEN = "08001";

  private final Path folder;
  private @Nullable Driver driver; // guarded by this; loaded by the first connection

  EmbeddedDatabase(Path folder) {
    this.folder = folder.toAbsolutePath().normalize();
  }

  @Override
  public Connection open() throws SQLException {
    if (folder.toString().indexOf(';') >= 0) {
      throw new SQLException("the folder %s has a semicolon".formatted(folder), CANNOT_OPEN);
    }
    try {
      PrivateFolder.prepare(folder);
      var connection = driver().connect("jdbc:h2:file:" + folder.resolve(NAME) + OPTIONS, user());
      if (connection == null) {
        throw new SQLException("H2's driver does not take the folder " + folder, CANNOT_OPEN);
      }
      var file = folder.resolve(FILE);
      if (PrivateFolder.POSIX) {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
      }
      return connection;
    } catch (IOException e) {
      throw new SQLException(e.getMessage(), CANNOT_OPEN, e);
    }
  }

  private synchronized Driver driver() {
    var loaded = driver;
    if (loaded == null) {
      loaded = new Driver();
      driver = loaded;
    }
    return loaded;
  }

  /** The file's mode protects it: it has one user, without a password. */
  private static Properties user() {
    var properties = new Properties();
    properties.setProperty("user", "dynamo");
    properties.setProperty("password", "");
    return properties;
  }

  @Override
  public String bytesType() {
    return "BLOB";
  }

  @Override
  public String place() {
    return folder.toString();
  }

  @Override
  public boolean mayHoldRows() {
    return Files.exists(folder.resolve(FILE));
  }

  @Override
  public synchronized void close() {
    if (driver != null) {
      Driver.unload(); // else the list of drivers would hold this application's class loader
    }
  }
}
