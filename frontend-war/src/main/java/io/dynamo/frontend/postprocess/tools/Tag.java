package io.dynamo.frontend.postprocess.tools;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The name in an opening tag, in quotes or not, and the type that the tag gives its value.
 *
 * @param isText whether the value is text (true) or JSON (false); null when the tag does not say
 */
record Tag(String name, @Nullable Boolean isText) {
  private static final Pattern STRING = Pattern.compile("\\bstring=[\"']?(true|false)");
  private static final Pattern TYPE = Pattern.compile("\\btype=[\"']?(\\w+)");

  static Tag of(String head) {
    var text = head.strip();
    int end = -1;
    if (!text.isEmpty() && (text.charAt(0) == '"' || text.charAt(0) == '\'')) {
      end = text.indexOf(text.charAt(0), 1);
    }
    if (end < 0) {
      return new Tag(text, null);
    }
    var attributes = text.substring(end + 1);
    var string = STRING.matcher(attributes);
    var type = TYPE.matcher(attributes);
    Boolean isText = null;
    if (string.find()) {
      isText = string.group(1).equals("true");
    } else if (type.find()) {
      isText = type.group(1).equals("string");
    }
    return new Tag(text.substring(1, end), isText);
  }
}
