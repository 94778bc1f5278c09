package io.dynamo.runtime.status;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Classifies the declared media types of bodies. */
final class MediaTypes {
  private MediaTypes() {}

  static boolean isJson(String contentType) {
    var type = plain(contentType);
    return type.equals("application/json")
        || (type.startsWith("application/") && type.endsWith("+json"));
  }

  /**
   * Whether a body of that type is read as JSON: JSON itself, and the type that command line tools
   * send by default. Of the types that a web page can send without a preflight request, {@code
   * text/plain} and {@code multipart/form-data} are not read; the third, curl's default, cannot
   * hold a JSON object when a form writes it.
   *
   * @param contentType null when none is declared
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
