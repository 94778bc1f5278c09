package io.dynamo.discovery.file;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.Watches;
import io.dynamo.discovery.file.FileStatus.Stamp;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The live records of a store. Reads a file again when its modification time or size has changed,
 * or when it was read too soon after a change to rely on the time; parses it again when its bytes
 * have changed. A file that cannot be read or deleted, is a link or belongs to another user is
 * logged once and does not affect the others. Confined to one thread.
 */
final class StoreView {
  private static final System.Logger LOG = System.getLogger(StoreView.class.getName());
  private static final long MAX_STORE_BYTES = 64 << 20; // limit of all records together
  private static final long TICK_NANOS = Duration.ofSeconds(2).toNanos(); // of file times

  /**
   * The content of a file as it was read.
   *
   * @param sinceNanos when the file was first seen with this stamp
   * @param settled whether it was read more than a tick after that: a write within the tick may
   *     leave the same stamp
   * @param record null when the bytes are not a record of a supported kind
   */
  private record Content(
      Stamp stamp,
      long sinceNanos,
      boolean settled,
      byte[] bytes,
      @Nullable DiscoveryRecord record) {}

  private final StoreFolder folder;
  private final List<String> buckets;
  private final FileLeases leases;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final Set<Path> complained = new HashSet<>(); // files already logged
  private Map<Path, Content> contents = new HashMap<>();

  /**
   * @param clock compared with the times that the owners give their files
   * @param nanoTime as {@link System#nanoTime()}; leases are measured on it
   */
  StoreView(
      StoreFolder folder,
      List<String> buckets,
      Duration leaseTtl,
      InstantSource clock,
      LongSupplier nanoTime) {
    this.folder = folder;
    this.buckets = buckets;
    this.leases = new FileLeases(leaseTtl);
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /**
   * Looks at every file. Deletes files whose owner has been silent for longer than the lease, and
   * unfinished files as old.
   *
   * @return the live records by their path
   * @throws IOException when a directory cannot be listed or is refused
   */
  Map<String, DiscoveryRecord> look() throws IOException {
    long now = nanoTime.getAsLong();
    leases.beginLook(clock.instant(), now);
    var after = new HashMap<Path, Content>();
    var live = new HashMap<String, DiscoveryRecord>();
    var listed = new HashSet<Path>();
    long bytes = 0;
    for (var bucket : buckets) {
      for (var file : list(bucket)) {
        listed.add(file);
        var content = look(file, contents.get(file), MAX_STORE_BYTES - bytes, now);
        if (content != null) {
          after.put(file, content);
          bytes += content.bytes.length;
          if (content.record != null) {
            live.put(Watches.path(content.record), content.record);
          }
        }
      }
    }
    contents = after;
    complained.retainAll(listed);
    return live;
  }

  private List<Path> list(String bucket) throws IOException {
    try {
      folder.check(bucket);
    } catch (NoSuchFileException _) {
      return List.of();
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder.directory(bucket))) {
      var list = new ArrayList<Path>();
      files.forEach(list::add);
      return list;
    } catch (NoSuchFileException _) {
      return List.of();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  /**
   * Reads the content of {@code file}; returns the previous content when the file cannot be read
   * while its lease lives.
   */
  private @Nullable Content look(Path file, @Nullable Content before, long room, long now) {
    try {
      var status = folder.status(file);
      if (status.isLink()) {
        throw new IOException("it is a symbolic link");
      }
      if (!status.isRegular()) {
        return null; // owned by another user
      }
      if (!folder.trusts(status.user())) {
        throw new IOException(
            "it belongs to the user with id %d; see dynamo.discovery.file-shared"
                .formatted(status.user()));
      }
      var state = leases.seen(file, status.stamp());
      if (state == FileLeases.State.EXPIRED) {
        reap(file);
        return null;
      }
      if (isUnfinished(file) || state == FileLeases.State.UNCONFIRMED) {
        return null;
      }
      if (status.stamp().bytes() > Math.min(room, RecordFiles.MAX_BYTES)) {
        throw new IOException(
            "it has %d bytes, where a record may have %d and all together %d"
                .formatted(status.stamp().bytes(), RecordFiles.MAX_BYTES, MAX_STORE_BYTES));
      }
      var content = read(file, before, status.stamp(), now);
      complained.remove(file);
      return content;
    } catch (NoSuchFileException _) {
      return null;
    } catch (IOException | RuntimeException e) {
      complain(file, "cannot be read: " + e.getMessage());
      return before == null || leases.unseen(file) != FileLeases.State.ALIVE ? null : before;
    }
  }

  private static boolean isUnfinished(Path file) {
    return String.valueOf(file.getFileName()).startsWith(RecordFiles.UNFINISHED);
  }

  /** Deletes an expired file; its record counts as gone even if the deletion fails. */
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

  private static Content read(Path file, @Nullable Content before, Stamp stamp, long now)
      throws IOException {
    long since = before != null && before.stamp.equals(stamp) ? before.sinceNanos : now;
    if (before != null && before.settled && before.stamp.equals(stamp)) {
      return before;
    }
    boolean settled = now - since > TICK_NANOS;
    var bytes = RecordFiles.read(file);
    var record =
        before != null && Arrays.equals(before.bytes, bytes) ? before.record : parse(file, bytes);
    return new Content(stamp, since, settled, bytes, record);
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
