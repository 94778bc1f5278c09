package io.dynamo.net;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** Text with percent escapes, as in the paths of URLs: a plus sign is a plus sign. */
public final class PercentText {
  private PercentText() {}

  /**
   * The text without escapes; bytes that are no UTF-8 become U+FFFD.
   *
   * @throws IllegalArgumentException when a percent sign has no two hexadecimal digits behind it
   */
  public static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
