package io.dynamo.frontend.preprocess.jinja;

import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** C's {@code strftime}, in the C locale. */
final class Strftime {
  private Strftime() {}

  static String format(ZonedDateTime time, String format) {
    var out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      if (c != '%' || i + 1 == format.length()) {
        out.append(c);
        continue;
      }
      boolean unpadded = format.charAt(i + 1) == '-' && i + 2 < format.length();
      char field = format.charAt(i += unpadded ? 2 : 1);
      var text = field(time, field);
      out.append(unpadded && text.length() > 1 && text.startsWith("0") ? text.substring(1) : text);
    }
    return out.toString();
  }

  private static String field(ZonedDateTime time, char field) {
    var pattern =
        switch (field) {
          case 'Y' -> "uuuu";
          case 'y' -> "uu";
          case 'm' -> "MM";
          case 'B' -> "MMMM";
          case 'b', 'h' -> "MMM";
          case 'd' -> "dd";
          case 'j' -> "DDD";
          case 'A' -> "EEEE";
          case 'a' -> "EEE";
          case 'H' -> "HH";
          case 'I' -> "hh";
          case 'M' -> "mm";
          case 'S' -> "ss";
          case 'f' -> "SSSSSS";
          case 'p' -> "a";
          case 'F' -> "uuuu-MM-dd";
          case 'T' -> "HH:mm:ss";
          case 'D' -> "MM/dd/uu";
          case 'z' -> "xx";
          case 'Z' -> "zzz";
          case '%' -> "'%'";
          default -> throw new JinjaException("strftime_now does not know %" + field);
        };
    return DateTimeFormatter.ofPattern(pattern, Locale.US).format(time);
  }
}
