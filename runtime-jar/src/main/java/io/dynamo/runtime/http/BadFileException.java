package io.dynamo.runtime.http;

import java.nio.file.Path;

/**
 * A file named by a setting cannot be used. The message has the setting, the file and the reason.
 */
final class BadFileException extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * @param setting the last part of its key
   */
  BadFileException(String setting, Path file, BadPemException why) {
    super(
        "dynamo.http.tls.%s = \"%s\" %s; name a PEM file that this server can use"
            .formatted(setting, file, why.getMessage()),
        why);
  }
}
