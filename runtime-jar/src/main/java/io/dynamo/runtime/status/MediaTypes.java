package io.dynamo.runtime.status;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The media types that a body declares. */
final class MediaTypes {
  private MediaTypes() {}

  static boolean isJson(String contentType) {
    var type = plain(contentType);
    return type.equals("application/json")
        || (type.startsWith("application/") && type.endsWith("+json"));
  }

  /**
   * Whether a body of that type is read as JSON: JSON itself, and what command line tools say when
   * nobody tells them. Of the types that a web page can send without asking first, {@code
   * text/plain} and {@code multipart/form-data} are none; the third, curl's own, cannot hold a JSON
   * object when a form writes it.
   *
   * @param contentType null when nothing is said
   */
  static boolean isReadAsJson(@Nullable String contentType) {
    return contentType == null
        || isJson(contentType)
        || plain(contentType).equals("application/x-www-form-urlencoded");
  }

  private static String plain(String contentType) {
    return contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
  }
}
