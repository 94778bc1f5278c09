package io.dynamo.discovery.file;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;

/**
 * The folder of a store. A personal folder is created for the user of this process alone and
 * checked each time before it is used: records of other users are not trusted, so a folder that
 * belongs to another user, is a symbolic link or can be written by others is refused. A shared
 * folder is used as it is. Safe for concurrent use.
 */
final class StoreFolder {
  private static final System.Logger LOG = System.getLogger(StoreFolder.class.getName());
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<?> OWNER_ONLY_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final String SHARE =
      "; set dynamo.discovery.file-root to a folder of your own, or dynamo.discovery.file-shared=true"
          + " to trust everybody who can write it";
  private static final String UNIX = "unix";
  private static final int TYPE = 0170000;
  private static final int DIRECTORY = 0040000;
  private static final int LINK = 0120000;
  private static final int STICKY = 01000;
  private static final int WRITTEN_BY_OTHERS = 0022;
  private static final int WRITTEN_BY_ALL = 0002;
  private static final int USED_BY_OTHERS = 0077;
  private static final int UNKNOWN = -1;

  private final Path root;
  private final boolean shared;
  private volatile int user = UNKNOWN; // user id of this process, known once the root exists

  private StoreFolder(Path root, boolean shared) {
    this.root = root;
    this.shared = shared;
  }

  /** Returns a folder for every process that can write it, regardless of its owner. */
  static StoreFolder shared(Path root) {
    return new StoreFolder(root.toAbsolutePath(), true);
  }

  /**
   * Returns a folder for the processes of one user. Creates the folders above it.
   *
   * @throws IOException also when the file system does not report owners and modes
   */
  static StoreFolder personal(Path root) throws IOException {
    var absolute = root.toAbsolutePath().normalize();
    var parent = absolute.getParent();
    var name = absolute.getFileName();
    if (parent == null || name == null) {
      throw new IOException(root + " is no folder to keep records in" + SHARE);
    }
    if (!root.getFileSystem().supportedFileAttributeViews().contains(UNIX)) {
      throw new IOException(
          root + " is on a file system that does not tell whose files are whose" + SHARE);
    }
    // links above the folder are resolved once, here; later changes to them do not matter
    return new StoreFolder(
        Files.createDirectories(parent, OWNER_ONLY).toRealPath().resolve(name), false);
  }

  /** Returns a personal folder whose user id is already known. */
  static StoreFolder ofUser(Path root, int user) throws IOException {
    var folder = personal(root);
    folder.user = user;
    return folder;
  }

  Path root() {
    return root;
  }

  Path directory(String bucket) {
    return root.resolve(bucket);
  }

  /** Whether records of the user {@code uid} are trusted. */
  boolean trusts(int uid) {
    return shared || uid == user;
  }

  /** Returns the modes of new files. */
  FileAttribute<?>[] fileAttributes() {
    return shared ? new FileAttribute<?>[0] : new FileAttribute<?>[] {OWNER_ONLY_FILE};
  }

  /**
   * Returns the directory of {@code bucket}, created if missing.
   *
   * @throws IOException also when the folder is not trusted
   */
  Path make(String bucket) throws IOException {
    if (shared) {
      return Files.createDirectories(directory(bucket));
    }
    makeRoot();
    var folder = root;
    for (var part : root.getFileSystem().getPath(bucket)) {
      folder = folder.resolve(part);
      makeDirectory(folder);
      closeToOthers(folder, requireOwn(folder));
    }
    return folder;
  }

  /**
   * Checks the folder and the directory of {@code bucket}.
   *
   * @throws java.nio.file.NoSuchFileException when there is none
   * @throws IOException when the folder is not trusted
   */
  void check(String bucket) throws IOException {
    if (shared) {
      return;
    }
    requireRoot();
    var folder = root;
    for (var part : root.getFileSystem().getPath(bucket)) {
      folder = folder.resolve(part);
      requireOwn(folder);
    }
  }

  private void makeRoot() throws IOException {
    var parent = root.getParent();
    if (parent != null) {
      Files.createDirectories(parent, OWNER_ONLY);
    }
    for (var above = parent; above != null; above = above.getParent()) {
      int mode = mode(above);
      if ((mode & WRITTEN_BY_ALL) != 0 && (mode & STICKY) == 0) {
        throw new IOException(
            "%s can be written by everybody (mode %o, no sticky bit), so that others could replace the discovery folder %s%s"
                .formatted(above, mode & 07777, root, SHARE));
      }
    }
    makeDirectory(root);
    requireRoot();
  }

  private static void makeDirectory(Path directory) throws IOException {
    try {
      Files.createDirectory(directory, OWNER_ONLY);
    } catch (FileAlreadyExistsException _) {
      return; // it is checked in either case
    }
  }

  private void requireRoot() throws IOException {
    int mode = requireDirectory(root);
    if ((mode & WRITTEN_BY_OTHERS) != 0) {
      throw new IOException(
          "the discovery folder %s can be written by other users (mode %o); run chmod 700 on it when nobody else is to use it%s"
              .formatted(root, mode & 07777, SHARE));
    }
    if (user == UNKNOWN) {
      user = probeUser();
    }
    requireOwner(root);
  }

  /** Finds the user id that new files in the root get. */
  private int probeUser() throws IOException {
    var probe = root.resolve(RecordFiles.UNFINISHED + UUID.randomUUID());
    Files.createFile(probe, OWNER_ONLY_FILE);
    try {
      return owner(probe);
    } finally {
      Files.deleteIfExists(probe);
    }
  }

  private int requireOwn(Path directory) throws IOException {
    int mode = requireDirectory(directory);
    requireOwner(directory);
    return mode;
  }

  private static int requireDirectory(Path directory) throws IOException {
    int mode = mode(directory);
    if ((mode & TYPE) != DIRECTORY) {
      throw new IOException(
          "the discovery folder %s is %s%s"
              .formatted(
                  directory, (mode & TYPE) == LINK ? "a symbolic link" : "no directory", SHARE));
    }
    return mode;
  }

  private void requireOwner(Path directory) throws IOException {
    int owner = owner(directory);
    if (owner != user) {
      throw new IOException(
          "the discovery folder %s belongs to the user with id %d, this process runs as %d%s"
              .formatted(directory, owner, user, SHARE));
    }
  }

  /**
   * Removes the rights of other users on a directory below the root; Dynamo's processes create such
   * directories.
   */
  private static void closeToOthers(Path directory, int mode) throws IOException {
    if ((mode & USED_BY_OTHERS) != 0) {
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
      LOG.log(
          Level.INFO,
          "other users have no access to the discovery records in {0} any more; dynamo.discovery.file-shared=true shares them",
          directory);
    }
  }

  /** Reads the attributes of {@code file} itself; links are not followed. */
  FileStatus status(Path file) throws IOException {
    boolean hasOwner = file.getFileSystem().supportedFileAttributeViews().contains(UNIX);
    return FileStatus.of(
        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS),
        hasOwner ? owner(file) : UNKNOWN);
  }

  private static int mode(Path file) throws IOException {
    return (int) Files.getAttribute(file, UNIX + ":mode", LinkOption.NOFOLLOW_LINKS);
  }

  private static int owner(Path file) throws IOException {
    return (int) Files.getAttribute(file, UNIX + ":uid", LinkOption.NOFOLLOW_LINKS);
  }
}
