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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is alive in a store. Reads a file again when its time of change or its size has moved, or
 * when that time was too near to tell; parses it again when its bytes have. A file that cannot be
 * read or deleted is logged once and costs the others nothing. Confined to one thread.
 */
final class StoreView {
  private static final System.Logger LOG = System.getLogger(StoreView.class.getName());
  private static final int MAX_RECORD_BYTES = 8 << 20;
  private static final Duration TICK = Duration.ofSeconds(2); // the coarsest of file systems

  /**
   * A file as it was read.
   *
   * @param settled false when it was read within the tick of its change: what was written later may
   *     have the same time, and the same size
   * @param record null when the bytes are none that we read
   */
  private record Seen(
      FileTime changed, boolean settled, byte[] bytes, @Nullable DiscoveryRecord record) {}

  private final RecordFiles files;
  private final List<String> buckets;
  private final Duration leaseTtl;
  private final Set<Path> complained = new HashSet<>(); // files that a log line was spent on
  private Map<Path, Seen> seen = new HashMap<>();

  StoreView(RecordFiles files, List<String> buckets, Duration leaseTtl) {
    this.files = files;
    this.buckets = buckets;
    this.leaseTtl = leaseTtl;
  }

  /**
   * Looks at every file. Deletes those whose owner has been silent for longer than the lease, and
   * unfinished ones as old.
   *
   * @return the living records by their path
   * @throws IOException when a directory cannot be listed
   */
  Map<String, DiscoveryRecord> look(Instant now) throws IOException {
    var after = new HashMap<Path, Seen>();
    var present = new HashMap<String, DiscoveryRecord>();
    var listed = new HashSet<Path>();
    for (var bucket : buckets) {
      for (var file : list(files.directory(bucket))) {
        listed.add(file);
        var current = look(file, seen.get(file), now);
        if (current != null) {
          after.put(file, current);
          if (current.record != null) {
            present.put(Watches.path(current.record), current.record);
          }
        }
      }
    }
    seen = after;
    complained.retainAll(listed);
    return present;
  }

  private static List<Path> list(Path directory) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      var list = new ArrayList<Path>();
      files.forEach(list::add);
      return list;
    } catch (NoSuchFileException | NotDirectoryException _) {
      return List.of();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  /** What {@code file} says now; for its lease, what it said before when it cannot be read. */
  private @Nullable Seen look(Path file, @Nullable Seen before, Instant now) {
    try {
      var attributes = Files.readAttributes(file, BasicFileAttributes.class);
      if (!attributes.isRegularFile()) {
        return null; // somebody else's
      }
      if (isExpired(attributes.lastModifiedTime(), now)) {
        reap(file);
        return null;
      }
      if (isUnfinished(file)) {
        return null;
      }
      if (attributes.size() > MAX_RECORD_BYTES) {
        complain(file, "is of " + attributes.size() + " bytes and is skipped");
        return null;
      }
      var current = read(file, before, attributes, now);
      complained.remove(file);
      return current;
    } catch (NoSuchFileException _) {
      return null;
    } catch (IOException | RuntimeException e) {
      complain(file, "cannot be read: " + e);
      return before == null || isExpired(before.changed, now) ? null : before;
    }
  }

  private boolean isExpired(FileTime changed, Instant now) {
    return changed.toInstant().plus(leaseTtl).isBefore(now);
  }

  private static boolean isUnfinished(Path file) {
    return String.valueOf(file.getFileName()).startsWith(RecordFiles.UNFINISHED);
  }

  /** Its record is gone, whether or not the file can be deleted. */
  private void reap(Path file) {
    try {
      if (Files.deleteIfExists(file) && !isUnfinished(file)) {
        LOG.log(Level.INFO, "discovery record {0} was not renewed and is gone", file);
      }
    } catch (IOException | RuntimeException e) {
      complain(file, "was not renewed and cannot be deleted: " + e);
    }
  }

  private void complain(Path file, String what) {
    if (complained.add(file)) {
      LOG.log(Level.WARNING, "discovery file {0} {1}", file, what);
    }
  }

  private static Seen read(
      Path file, @Nullable Seen before, BasicFileAttributes attributes, Instant now)
      throws IOException {
    var changed = attributes.lastModifiedTime();
    if (before != null
        && before.settled
        && before.changed.equals(changed)
        && before.bytes.length == attributes.size()) {
      return before;
    }
    boolean settled = changed.toInstant().plus(TICK).isBefore(now);
    var bytes = Files.readAllBytes(file);
    return before != null && Arrays.equals(before.bytes, bytes)
        ? new Seen(changed, settled, bytes, before.record)
        : new Seen(changed, settled, bytes, parse(file, bytes));
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
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "discovery file {0} is skipped: {1}", file, e.getMessage());
    }
    return null;
  }
}
