package io.dynamo.runtime.http;

import org.jspecify.annotations.Nullable;

/**
 * A PEM file cannot be used. The message continues a sentence after the file's name: "holds no
 * certificate".
 */
final class BadPemException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  BadPemException(String message) {
    super(message);
  }

  BadPemException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
