package io.dynamo.runtime.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The folder of the configuration file and of the key stores that it names. The folder and its
 * files are accessible to the server's own account only, where the file system supports accounts.
 * For one thread at a time.
 */
final class PieceFolder {
  static final String PIECE = "port.xml";
  private static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

  private final Path parent;
  private final Path folder;
  private Set<String> current = Set.of(); // stores that the configuration names

  /**
   * @param parent of the folders of all starts
   * @param start the name of this start's folder
   */
  PieceFolder(Path parent, String start) {
    this.parent = parent;
    this.folder = parent.resolve(start);
  }

  Path path() {
    return folder;
  }

  /**
   * Replaces the old configuration file by a new one, atomically. The previous stores stay: the
   * container may be reading them.
   *
   * @param xml the elements of the configuration file
   * @param stores by file name, new names each time
   */
  void replace(String xml, Map<String, byte[]> stores) throws IOException {
    Files.createDirectories(folder, permissions("rwx------")); // and its parent
    for (var store : stores.entrySet()) {
      write(folder.resolve(store.getKey()), store.getValue());
    }
    var next = folder.resolve(PIECE + ".new");
    Files.deleteIfExists(next);
    write(next, piece(xml).getBytes(StandardCharsets.UTF_8));
    Files.move(next, folder.resolve(PIECE), StandardCopyOption.ATOMIC_MOVE);
    var needed = new HashSet<>(current);
    needed.addAll(stores.keySet());
    needed.add(PIECE);
    deleteAllBut(needed);
    current = Set.copyOf(stores.keySet());
  }

  /** Deletes the files of earlier starts, which include copies of keys. */
  void deleteOthers() throws IOException {
    if (!Files.isDirectory(parent)) {
      return;
    }
    try (var others = Files.newDirectoryStream(parent)) {
      for (var other : others) {
        if (!other.equals(folder)) {
          delete(other);
        }
      }
    }
  }

  private static void delete(Path other) throws IOException {
    if (Files.isDirectory(other, LinkOption.NOFOLLOW_LINKS)) {
      try (var files = Files.newDirectoryStream(other)) {
        for (var file : files) {
          Files.delete(file);
        }
      }
    }
    Files.delete(other);
  }

  private static String piece(String xml) {
    return """
    <server description="Written from the settings at each start; changes here are lost.">
    %s</server>
    """
        .formatted(xml);
  }

  private void deleteAllBut(Set<String> needed) throws IOException {
    try (var files = Files.newDirectoryStream(folder)) {
      for (var file : files) {
        if (!needed.contains(file.getFileName().toString())) {
          Files.delete(file);
        }
      }
    }
  }

  private static void write(Path file, byte[] content) throws IOException {
    var options = EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try (var channel = Files.newByteChannel(file, options, permissions("rw-------"))) {
      var bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }
  }

  private static FileAttribute<?>[] permissions(String text) {
    return POSIX
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text))
        }
        : new FileAttribute<?>[0];
  }
}
