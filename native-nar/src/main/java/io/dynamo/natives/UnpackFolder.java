package io.dynamo.natives;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Creates folders that a library may be unpacked to and loaded from: no other user can change them.
 */
public final class UnpackFolder {
  private static final String UNIX = "unix";
  private static final int STICKY = 01000;
  private static final int WRITTEN_BY_OTHERS = 0022;

  private UnpackFolder() {}

  /**
   * Creates a folder for the user of this process alone, under an unused name.
   *
   * @param parent created when it is missing
   * @throws IOException also when others can write {@code parent} without a sticky bit, and so
   *     could put another folder in the new one's place
   */
  public static Path make(Path parent, String prefix) throws IOException {
    Files.createDirectories(parent);
    if (parent.getFileSystem().supportedFileAttributeViews().contains(UNIX)) {
      int mode = (int) Files.getAttribute(parent, UNIX + ":mode");
      if ((mode & WRITTEN_BY_OTHERS) != 0 && (mode & STICKY) == 0) {
        throw new IOException(
            "%s can be written by other users (mode %o, no sticky bit), who could replace a library there; run chmod go-w on it or name another folder"
                .formatted(parent, mode & 07777));
      }
    }
    return Files.createTempDirectory(parent, prefix); // of mode 700
  }
}
