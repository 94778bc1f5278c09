package io.dynamo.discovery.store;

import java.util.regex.Pattern;

/**
 * The name of a bucket, such as {@code v1/busy_thresholds}: a prefix of keys in etcd, a directory
 * in a folder.
 *
 * @param text segments of letters, digits, {@code -}, {@code _} and {@code .}, separated by slashes
 */
public record BucketName(String text) {
  private static final Pattern SEGMENTS =
      Pattern.compile("(?!\\.)[A-Za-z0-9._-]{1,128}(/(?!\\.)[A-Za-z0-9._-]{1,128}){0,7}");

  /**
   * @throws IllegalArgumentException when {@code text} is no such name
   */
  public BucketName {
    if (!SEGMENTS.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "the name of a bucket has 1 to 8 segments of letters, digits, -, _ and ., none beginning"
              + " with a dot: "
              + text);
    }
  }

  @Override
  public String toString() {
    return text;
  }
}
