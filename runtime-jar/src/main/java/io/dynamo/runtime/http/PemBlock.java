package io.dynamo.runtime.http;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;

/**
 * One block of a PEM file (RFC 7468).
 *
 * @param label {@code CERTIFICATE} for example
 * @param body the text between its two lines
 */
record PemBlock(String label, String body) {
  /** A body may contain dashes, as the headers of encrypted keys do, but not five in a row. */
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*+(?:-(?!----)[^-]*+)*+)-----END \\1-----");

  /** Returns the blocks of a file in their order; text around them is ignored. */
  static List<PemBlock> of(String text) {
    var blocks = new ArrayList<PemBlock>();
    BLOCK
        .matcher(text)
        .results()
        .forEach(found -> blocks.add(new PemBlock(found.group(1), found.group(2))));
    return blocks;
  }

  /** Whether it is encrypted in the old way, with the cipher named in the block. */
  boolean isEncrypted() {
    return body.contains("ENCRYPTED");
  }

  /**
   * Decodes its bytes.
   *
   * @throws BadPemException when they are not Base64
   */
  byte[] der() {
    try {
      return Base64.getMimeDecoder().decode(body);
    } catch (IllegalArgumentException e) {
      throw new BadPemException("has a block " + label + " that is not Base64", e);
    }
  }
}
