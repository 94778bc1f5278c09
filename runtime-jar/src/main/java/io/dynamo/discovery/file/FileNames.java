package io.dynamo.discovery.file;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Encodes keys as file names: every byte outside {@code A-Za-z0-9} becomes {@code %XX}. */
final class FileNames {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private FileNames() {}

  static String encode(String key) {
    var name = new StringBuilder(key.length() + 16);
    for (byte b : key.getBytes(StandardCharsets.UTF_8)) {
      if ((b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9')) {
        name.append((char) b);
      } else {
        name.append('%').append(HEX.toHexDigits(b));
      }
    }
    return name.toString();
  }

  /**
   * @throws IllegalArgumentException when {@code name} has a percent sign without two hex digits
   */
  static String decode(String name) {
    var key = new ByteArrayOutputStream(name.length());
    var bytes = name.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] != '%') {
        key.write(bytes[i]);
      } else if (i + 2 < bytes.length) {
        key.write(HexFormat.fromHexDigit(bytes[i + 1]) << 4 | HexFormat.fromHexDigit(bytes[i + 2]));
        i += 2;
      } else {
        throw new IllegalArgumentException("file name " + name + " ends within a %XX");
      }
    }
    return key.toString(StandardCharsets.UTF_8);
  }
}
