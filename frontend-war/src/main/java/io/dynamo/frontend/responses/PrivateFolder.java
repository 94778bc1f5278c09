package io.dynamo.frontend.responses;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Prepares a folder that only the user of this process can enter. */
final class PrivateFolder {
  static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
  private static final String OWNER_ONLY = "rwx------";
  private static final String REMEDY =
      "; set dynamo.frontend.responses.folder to a folder of this server alone";

  private PrivateFolder() {}

  /**
   * Creates the folder, or closes the one that is there to other users.
   *
   * @throws IOException also when it is a link, no folder, or another user's
   */
  static void prepare(Path folder) throws IOException {
    var parent = folder.getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    try {
      if (POSIX) {
        Files.createDirectory(
            folder,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY)));
      } else {
        Files.createDirectory(folder);
      }
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException("%s is a link or no folder%s".formatted(folder, REMEDY), e);
      }
      if (POSIX) {
        requireOwner(folder);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(OWNER_ONLY));
      }
    }
  }

  private static void requireOwner(Path folder) throws IOException {
    var ours = Files.createTempFile(folder, "owner", null);
    try {
      var user = Files.getOwner(ours);
      var owner = Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS);
      if (!owner.equals(user)) {
        throw new IOException(
            "%s belongs to %s, this process runs as %s%s"
                .formatted(folder, owner.getName(), user.getName(), REMEDY));
      }
    } finally {
      Files.delete(ours);
    }
  }
}
