package io.dynamo.discovery.file;

import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a file itself, as its file system reports them; links are not followed.
 *
 * @param isLink whether it is a symbolic link
 * @param user the owner's user id; -1 where the file system reports none
 */
record FileStatus(boolean isRegular, boolean isLink, Stamp stamp, int user) {
  /**
   * The attributes that change when the owner of a record renews it or writes another over it.
   *
   * @param changed modification time, set by the owner from its clock
   * @param key identity of the file behind the name; null where the file system has none
   */
  record Stamp(FileTime changed, long bytes, @Nullable Object key) {}

  static FileStatus of(BasicFileAttributes attributes, int user) {
    return new FileStatus(
        attributes.isRegularFile(),
        attributes.isSymbolicLink(),
        new Stamp(attributes.lastModifiedTime(), attributes.size(), attributes.fileKey()),
        user);
  }
}
