package io.dynamo.discovery.file;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.DiscoveryRecord;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.HexFormat;
import java.util.function.LongSupplier;

/**
 * The files of a store: created whole or not at all, touched, taken away. Safe for concurrent use,
 * also by several processes.
 */
final class RecordFiles {
  static final String UNFINISHED = ".tmp_";

  private final Path root;
  private final LongSupplier random;

  /**
   * @param random names unfinished files
   */
  RecordFiles(Path root, LongSupplier random) {
    this.root = root;
    this.random = random;
  }

  Path directory(String bucket) {
    return root.resolve(bucket);
  }

  Path file(DiscoveryRecord record) {
    return directory(record.bucket()).resolve(FileNames.encode(record.key()));
  }

  /**
   * Writes {@code record} if nothing stands under its key, and makes its directory when that is
   * gone.
   *
   * @return false when a file stands there already
   * @throws IOException also when the file system has no hard links
   */
  boolean create(DiscoveryRecord record, Instant now) throws IOException {
    var unfinished = unfinished(record);
    try {
      write(unfinished, record, now);
      Files.createLink(file(record), unfinished);
      return true;
    } catch (FileAlreadyExistsException _) {
      return false;
    } catch (UnsupportedOperationException e) {
      throw new IOException(
          "%s is on a file system without hard links; set dynamo.discovery.file-root to another"
              .formatted(root),
          e);
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  private Path unfinished(DiscoveryRecord record) throws IOException {
    return Files.createDirectories(directory(record.bucket()))
        .resolve(UNFINISHED + HexFormat.of().toHexDigits(random.getAsLong()));
  }

  private static void write(Path file, DiscoveryRecord record, Instant now) throws IOException {
    Files.write(file, DiscoveryJson.encode(record));
    Files.setLastModifiedTime(file, FileTime.from(now));
  }

  /** Writes {@code record} over what stands under its key: readers see the one or the other. */
  void replace(DiscoveryRecord record, Instant now) throws IOException {
    var unfinished = unfinished(record);
    try {
      write(unfinished, record, now);
      Files.move(unfinished, file(record), StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  /**
   * Says that the owner of {@code record} lives.
   *
   * @return false when the file is gone
   */
  boolean touch(DiscoveryRecord record, Instant now) throws IOException {
    try {
      Files.setLastModifiedTime(file(record), FileTime.from(now));
      return true;
    } catch (NoSuchFileException _) {
      return false;
    }
  }

  void delete(DiscoveryRecord record) throws IOException {
    Files.deleteIfExists(file(record));
  }

  /** Whether the file of {@code record} says just that. */
  boolean holds(DiscoveryRecord record) throws IOException {
    try {
      return DiscoveryJson.decode(Files.readAllBytes(file(record))).equals(record);
    } catch (NoSuchFileException | IllegalArgumentException _) {
      return false;
    }
  }
}
