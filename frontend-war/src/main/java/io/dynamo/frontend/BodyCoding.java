package io.dynamo.frontend;

import org.jspecify.annotations.Nullable;

/**
 * Refuses compressed bodies on every path: a few bytes may become very many, and all bounds are on
 * the bytes that come.
 */
final class BodyCoding {
  private BodyCoding() {}

  /**
   * Returns the first coding of a body; null when the body comes as it is.
   *
   * @param headers the values of {@code Content-Encoding}
   */
  static @Nullable String of(Iterable<String> headers) {
    for (var given : headers) {
      for (var coding : given.split(",", -1)) {
        if (!coding.isBlank() && !coding.strip().equalsIgnoreCase("identity")) {
          return coding.strip();
        }
      }
    }
    return null;
  }

  static ApiError refusal(String coding) {
    return ApiError.of(
        415,
        "Content-Encoding `%s` is not supported; send the body as it is, without compression"
            .formatted(ApiError.shown(coding)));
  }
}
