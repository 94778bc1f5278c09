package io.dynamo.discovery.file;

import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a file itself, as its file system gives them, links not followed.
 *
 * @param isLink a symbolic one
 * @param user who owns it; -1 where the file system does not say
 */
record FileStatus(boolean isRegular, boolean isLink, Stamp stamp, int user) {
  /**
   * The attributes that change when the owner of a record renews it or writes another over it.
   *
   * @param changed set by the owner, after its own clock
   * @param key of the file behind the name; null where the file system has none
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
