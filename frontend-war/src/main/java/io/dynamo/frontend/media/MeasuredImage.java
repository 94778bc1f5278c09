package io.dynamo.frontend.media;

import java.util.HexFormat;

/**
 * An image by its content or address.
 *
 * @param hash unsigned
 */
record MeasuredImage(long hash, int width, int height) {
  /** The hash as workers read it: 16 hex digits. */
  String hex() {
    return HexFormat.of().toHexDigits(hash);
  }
}
