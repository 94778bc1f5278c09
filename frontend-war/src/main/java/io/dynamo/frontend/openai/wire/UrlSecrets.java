package io.dynamo.frontend.openai.wire;

import java.util.regex.Pattern;

/**
 * Masks credentials in the URLs of a text: user and password before the host, and the values of
 * parameters that sign a URL or grant access.
 */
final class UrlSecrets {
  private static final String SCHEME_END = "://";
  private static final String MASK = "[masked]";
  private static final int MOST_NAME = 64; // characters; a longer name is none of the known ones
  private static final Pattern SECRET_NAME =
      Pattern.compile(
          "sig|.*(signature|token|secret|passw|pwd|auth|credential|apikey|accesskey).*"
              + "|(.*[-_.])?key([-_.].*)?",
          Pattern.CASE_INSENSITIVE);

  private UrlSecrets() {}

  /** Returns {@code text} with its credentials masked; the same text when it has none. */
  static String masked(String text) {
    int scheme = text.indexOf(SCHEME_END);
    if (scheme < 0) {
      return text;
    }
    var out = new StringBuilder(text.length());
    int done = 0;
    while (scheme >= 0) {
      int host = scheme + SCHEME_END.length();
      int end = end(text, host);
      out.append(text, done, host);
      appendUrl(text, host, end, out);
      done = end;
      scheme = text.indexOf(SCHEME_END, end);
    }
    return out.append(text, done, text.length()).toString();
  }

  /**
   * The end of a URL: no character from there on is part of it, or another URL begins there, which
   * may also be a part of this one, and is looked at by itself.
   */
  private static int end(String text, int from) {
    int at = from;
    while (at < text.length() && text.charAt(at) > ' ' && "\"'<>`".indexOf(text.charAt(at)) < 0) {
      if (text.startsWith(SCHEME_END, at)) {
        return schemeBegin(text, from, at);
      }
      at++;
    }
    return at;
  }

  private static int schemeBegin(String text, int from, int end) {
    int at = end;
    while (at > from && end - at < MOST_NAME && isSchemeCharacter(text.charAt(at - 1))) {
      at--;
    }
    return at;
  }

  private static boolean isSchemeCharacter(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || "+-.".indexOf(c) >= 0;
  }

  private static void appendUrl(String text, int host, int end, StringBuilder out) {
    int path = host;
    int user = -1; // the last @ before the path
    while (path < end && "/?#".indexOf(text.charAt(path)) < 0) {
      user = text.charAt(path) == '@' ? path : user;
      path++;
    }
    if (user > host) {
      out.append(MASK).append(text, user, path);
    } else {
      out.append(text, host, path);
    }
    int parameters = path;
    while (parameters < end && "?#".indexOf(text.charAt(parameters)) < 0) {
      parameters++;
    }
    out.append(text, path, parameters);
    for (int at = parameters; at < end; ) {
      out.append(text.charAt(at)); // a separator
      int next = at + 1;
      int equals = -1;
      while (next < end && "?#&;".indexOf(text.charAt(next)) < 0) {
        equals = equals < 0 && text.charAt(next) == '=' ? next : equals;
        next++;
      }
      if (equals > 0 && equals + 1 < next && isSecret(text, at + 1, equals)) {
        out.append(text, at + 1, equals + 1).append(MASK);
      } else {
        out.append(text, at + 1, next);
      }
      at = next;
    }
  }

  private static boolean isSecret(String text, int from, int to) {
    return to - from <= MOST_NAME && SECRET_NAME.matcher(text.substring(from, to)).matches();
  }
}
