package io.dynamo.discovery.file;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.Watches;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is alive in a store. Reads a file again when its time of change has moved, parses it again
 * when its bytes have. Confined to one thread.
 */
final class StoreView {
  private static final System.Logger LOG = System.getLogger(StoreView.class.getName());
  private static final int MAX_RECORD_BYTES = 8 << 20;

  /**
   * A file as it was read.
   *
   * @param record null when the bytes are none that we read
   */
  private record Seen(FileTime changed, byte[] bytes, @Nullable DiscoveryRecord record) {}

  private final RecordFiles files;
  private final List<String> buckets;
  private final Duration leaseTtl;
  private Map<Path, Seen> seen = new HashMap<>();

  StoreView(RecordFiles files, List<String> buckets, Duration leaseTtl) {
    this.files = files;
    this.buckets = buckets;
    this.leaseTtl = leaseTtl;
  }

  /**
   * Looks at every file. Deletes those whose owner has been silent for longer than the lease.
   *
   * @return the living records by their path
   */
  Map<String, DiscoveryRecord> look(Instant now) throws IOException {
    var after = new HashMap<Path, Seen>();
    var present = new HashMap<String, DiscoveryRecord>();
    for (var bucket : buckets) {
      for (var file : list(files.directory(bucket))) {
        var current = read(file, seen.get(file), now);
        if (current != null) {
          after.put(file, current);
          if (current.record != null) {
            present.put(Watches.path(current.record), current.record);
          }
        }
      }
    }
    seen = after;
    return present;
  }

  private static List<Path> list(Path directory) throws IOException {
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(
            directory,
            file -> !String.valueOf(file.getFileName()).startsWith(RecordFiles.UNFINISHED))) {
      var list = new ArrayList<Path>();
      files.forEach(list::add);
      return list;
    } catch (NoSuchFileException | NotDirectoryException _) {
      return List.of();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private @Nullable Seen read(Path file, @Nullable Seen before, Instant now) throws IOException {
    try {
      var attributes = Files.readAttributes(file, BasicFileAttributes.class);
      var changed = attributes.lastModifiedTime();
      if (changed.toInstant().plus(leaseTtl).isBefore(now)) {
        Files.deleteIfExists(file);
        LOG.log(Level.INFO, "discovery record {0} was not renewed and is gone", file);
        return null;
      }
      if (!attributes.isRegularFile() || attributes.size() > MAX_RECORD_BYTES) {
        return null;
      }
      if (before != null && before.changed.equals(changed)) {
        return before;
      }
      var bytes = Files.readAllBytes(file);
      return before != null && Arrays.equals(before.bytes, bytes)
          ? new Seen(changed, bytes, before.record)
          : new Seen(changed, bytes, parse(file, bytes));
    } catch (NoSuchFileException _) {
      return null;
    }
  }

  private static @Nullable DiscoveryRecord parse(Path file, byte[] bytes) {
    try {
      var record = DiscoveryJson.decode(bytes);
      var key = FileNames.decode(String.valueOf(file.getFileName()));
      if (record.key().equals(key)) {
        return record;
      }
      LOG.log(
          Level.WARNING, "discovery file {0} holds the record of {1}; skipped", file, record.key());
    } catch (IllegalArgumentException e) {
      LOG.log(Level.WARNING, "discovery file {0} is skipped: {1}", file, e.getMessage());
    }
    return null;
  }
}
