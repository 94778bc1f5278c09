package io.dynamo.discovery.file;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.DiscoveryRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Writes the files of a store: creates each whole or not at all, renews and deletes them. Safe for
 * concurrent use, also by several processes.
 */
final class RecordFiles {
  static final String UNFINISHED = ".tmp_";
  private static final Set<OpenOption> NEW =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  private static final Set<OpenOption> PLAIN =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);

  static final int MAX_BYTES = 1 << 20; // limit of a record

  private final StoreFolder folder;
  private final LongSupplier random;

  /**
   * @param random source of the names of unfinished files
   */
  RecordFiles(StoreFolder folder, LongSupplier random) {
    this.folder = folder;
    this.random = random;
  }

  Path file(DiscoveryRecord record) {
    return folder.directory(record.bucket()).resolve(FileNames.encode(record.key()));
  }

  /**
   * Writes {@code record} if no file exists under its key; creates its directory if it is missing.
   *
   * @return false when a file exists already
   * @throws IOException also when the file system has no hard links, or the folder is refused
   */
  boolean create(DiscoveryRecord record, Instant now) throws IOException {
    var unfinished = writeUnfinished(record, now);
    try {
      return link(unfinished, file(record));
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  /**
   * Gives an unfinished file its name, if no file has it.
   *
   * @return false when a file exists already
   * @throws IOException also when the file system has no hard links
   */
  boolean link(Path unfinished, Path file) throws IOException {
    try {
      Files.createLink(file, unfinished);
      return true;
    } catch (FileAlreadyExistsException _) {
      return false;
    } catch (UnsupportedOperationException e) {
      throw new IOException(
          "%s is on a file system without hard links; set dynamo.discovery.file-root to another"
              .formatted(folder.root()),
          e);
    }
  }

  private Path writeUnfinished(DiscoveryRecord record, Instant now) throws IOException {
    return writeUnfinished(record.bucket(), record.key(), DiscoveryJson.encode(record), now);
  }

  /**
   * Writes a file that readers ignore, for its later name; creates its directory if it is missing.
   *
   * @throws IOException also when {@code bytes} are more than {@link #MAX_BYTES}
   */
  Path writeUnfinished(String bucket, String key, byte[] bytes, Instant now) throws IOException {
    if (bytes.length > MAX_BYTES) {
      throw new IOException(
          "the record %s of %d bytes exceeds %d bytes, the most that is read"
              .formatted(key, bytes.length, MAX_BYTES));
    }
    var file =
        folder.make(bucket).resolve(UNFINISHED + HexFormat.of().toHexDigits(random.getAsLong()));
    try {
      try (var out = Files.newByteChannel(file, NEW, folder.fileAttributes())) {
        for (var left = ByteBuffer.wrap(bytes); left.hasRemaining(); ) {
          out.write(left);
        }
      }
      Files.setLastModifiedTime(file, FileTime.from(now));
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(file);
      throw e;
    }
    return file;
  }

  /**
   * Reads the bytes of a record; links are not followed.
   *
   * @throws IOException also when it has more than {@link #MAX_BYTES}
   */
  static byte[] read(Path file) throws IOException {
    try (var in = Channels.newInputStream(Files.newByteChannel(file, PLAIN))) {
      var bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new IOException("it has more than %d bytes".formatted(MAX_BYTES));
      }
      return bytes;
    }
  }

  /** Replaces the file of {@code record}'s key; readers see either the old or the new content. */
  void replace(DiscoveryRecord record, Instant now) throws IOException {
    var unfinished = writeUnfinished(record, now);
    try {
      Files.move(unfinished, file(record), StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  /**
   * Renews the file of {@code record} by setting its modification time.
   *
   * @return false when the file is gone
   */
  boolean touch(DiscoveryRecord record, Instant now) throws IOException {
    try {
      folder.check(record.bucket());
      Files.setLastModifiedTime(file(record), FileTime.from(now));
      return true;
    } catch (NoSuchFileException _) {
      return false;
    }
  }

  void delete(DiscoveryRecord record) throws IOException {
    Files.deleteIfExists(file(record));
  }

  /** Whether the file of {@code record} contains exactly this record. */
  boolean holds(DiscoveryRecord record) throws IOException {
    try {
      return DiscoveryJson.decode(read(file(record))).equals(record);
    } catch (NoSuchFileException | IllegalArgumentException _) {
      return false;
    }
  }
}
