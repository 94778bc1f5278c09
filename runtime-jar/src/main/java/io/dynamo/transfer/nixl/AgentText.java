package io.dynamo.transfer.nixl;

import java.io.ByteArrayOutputStream;
import java.util.Base64;
import java.util.HexFormat;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * The metadata of an agent as text in {@link RdmaMetadata}: {@code b64:} and Base64 of its bytes,
 * compressed by zlib at level 6. Earlier versions of Dynamo wrote hexadecimal digits of the
 * compressed bytes instead, which are read, too.
 */
final class AgentText {
  private static final String PREFIX = "b64:";
  private static final int LEVEL = 6;
  private static final int PIECE_BYTES = 8192;

  private AgentText() {}

  static String write(byte[] metadata) {
    var bytes = new ByteArrayOutputStream();
    try (var deflater = new Deflater(LEVEL)) {
      deflater.setInput(metadata);
      deflater.finish();
      var piece = new byte[PIECE_BYTES];
      while (!deflater.finished()) {
        bytes.write(piece, 0, deflater.deflate(piece));
      }
    }
    return PREFIX + Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  /**
   * Returns the bytes of a text.
   *
   * @param most the most bytes they may have
   * @throws IllegalArgumentException when it is something else, or larger
   */
  static byte[] read(String text, int most) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("nixl_metadata is empty");
    }
    byte[] packed;
    try {
      packed =
          text.startsWith(PREFIX)
              ? Base64.getDecoder().decode(text.substring(PREFIX.length()))
              : HexFormat.of().parseHex(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "nixl_metadata is neither b64: with Base64 nor hexadecimal digits", e);
    }
    return inflate(packed, most);
  }

  private static byte[] inflate(byte[] packed, int most) {
    var bytes = new ByteArrayOutputStream();
    try (var inflater = new Inflater()) {
      inflater.setInput(packed);
      var piece = new byte[PIECE_BYTES];
      while (!inflater.finished()) {
        int count = inflater.inflate(piece);
        if (count == 0 && !inflater.finished()) {
          throw new IllegalArgumentException("nixl_metadata ends early or needs a dictionary");
        }
        if (bytes.size() + count > most) {
          throw new IllegalArgumentException(
              "nixl_metadata has more than %d bytes; register fewer ranges".formatted(most));
        }
        bytes.write(piece, 0, count);
      }
      return bytes.toByteArray();
    } catch (DataFormatException e) {
      throw new IllegalArgumentException("nixl_metadata is not compressed by zlib", e);
    }
  }
}
