package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.dynamo.config.watch.RequestTraceSettings;
import io.dynamo.config.watch.RequestTraceSettings.FileFormat;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.channels.Channels;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes records to numbered files, one after the other, and deletes the oldest ones. As in
 * Dynamo's files, a line is an object with the milliseconds since the start and the record. A file
 * is always a new one, of the owner alone. For one thread.
 */
final class RollingFiles implements RecordSink {
  private static final System.Logger LOG = System.getLogger(RollingFiles.class.getName());
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int MOST_TRIES = 1000; // of numbers that others take at the same time

  private final Path folder;
  private final String prefix;
  private final RequestTraceSettings settings;
  private final Pattern names;
  private final long startNanos = System.nanoTime();
  private @Nullable OutputStream open;
  private @Nullable Path file; // the open one
  private boolean isFresh; // nothing of the open file is known to be on the disk
  private long bytes; // of the open file, before compression
  private long lines;

  RollingFiles(RequestTraceSettings settings) {
    var path = settings.filePath().toAbsolutePath().normalize();
    this.folder = path.getParent() == null ? path : path.getParent();
    this.prefix = String.valueOf(path.getFileName());
    this.settings = settings;
    this.names = Pattern.compile(Pattern.quote(prefix) + "\\.(\\d{6,18})\\.jsonl(\\.gz)?");
  }

  @Override
  public void write(byte[] record) throws IOException {
    var millis = Long.toString((System.nanoTime() - startNanos) / 1_000_000);
    long length = record.length + millis.length() + (long) "{\"timestamp\":,\"event\":}\n".length();
    var rollLines = settings.rollLines();
    if (open != null
        && (bytes + length > settings.rollBytes() || (rollLines != null && lines >= rollLines))) {
      close();
    }
    var out = opened();
    out.write(("{\"timestamp\":" + millis + ",\"event\":").getBytes(US_ASCII));
    out.write(record);
    out.write("}\n".getBytes(US_ASCII));
    bytes += length;
    lines++;
  }

  private OutputStream opened() throws IOException {
    var known = open;
    if (known == null) {
      known = next();
      open = known;
      bytes = 0;
      lines = 0;
      isFresh = true;
    }
    return known;
  }

  private OutputStream next() throws IOException {
    Files.createDirectories(folder);
    var present = numbered();
    long number = present.isEmpty() ? 1 : present.getLast().number() + 1;
    for (int i = 0; i < MOST_TRIES; i++, number++) {
      boolean packs = settings.fileFormat() == FileFormat.JSONL_GZ;
      var digits = String.format(Locale.ROOT, "%06d", number);
      var name = prefix + "." + digits + (packs ? ".jsonl.gz" : ".jsonl");
      try {
        var path = folder.resolve(name);
        var buffered = new BufferedOutputStream(create(path), BUFFER_BYTES);
        file = path;
        return packs ? new GZIPOutputStream(buffered, 1 << 16, true) : buffered;
      } catch (FileAlreadyExistsException e) { // of another server: the next number
      }
    }
    throw new IOException("no free name for a file in " + folder);
  }

  private static OutputStream create(Path path) throws IOException {
    boolean isPosix = path.getFileSystem().supportedFileAttributeViews().contains("posix");
    var mode =
        isPosix
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
            }
            : new FileAttribute<?>[0];
    return Channels.newOutputStream(
        Files.newByteChannel(
            path,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
            mode));
  }

  private record Numbered(long number, Path path) {}

  /** Returns the files that are there, the oldest first. */
  private List<Numbered> numbered() throws IOException {
    var found = new ArrayList<Numbered>();
    try (var files = Files.newDirectoryStream(folder)) {
      for (var path : files) {
        Matcher name = names.matcher(String.valueOf(path.getFileName()));
        if (name.matches()) {
          found.add(new Numbered(Long.parseLong(name.group(1)), path));
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    found.sort(Comparator.comparingLong(Numbered::number));
    return found;
  }

  private void deleteOldest() throws IOException {
    var present = numbered();
    int surplus = Math.max(0, present.size() - settings.maxFiles());
    for (var old : present.subList(0, surplus)) {
      Files.deleteIfExists(old.path());
    }
  }

  @Override
  public void flush() throws IOException {
    var out = open;
    if (out != null) {
      out.flush();
      if (isFresh) {
        isFresh = false;
        deleteOldest(); // only now: a disk that takes no file must not cost those that are there
      }
    }
  }

  @Override
  public void abandon() {
    var out = open;
    var path = file;
    open = null;
    try {
      if (out != null) {
        out.close();
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "a file of records could not be closed", e);
    }
    try {
      if (isFresh && path != null && Files.size(path) == 0) {
        Files.delete(path);
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "an empty file of records could not be deleted", e);
    }
  }

  /** Ends the open file; a later record begins the next. */
  @Override
  public void close() throws IOException {
    flush();
    var out = open;
    open = null;
    if (out != null) {
      out.close();
    }
  }
}
