package io.dynamo.frontend.batches;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tells whose files and batches are whose, and makes their ids. Who gives the same {@code
 * Authorization} header is one owner; all who give none are another. The header itself is not kept.
 */
public final class Owners {
  private static final RandomGenerator RANDOM = new SecureRandom();
  private static final int BYTES = 16;
  private static final String FILE = "file-";
  private static final String BATCH = "batch_";
  private static final Pattern FORM =
      Pattern.compile("(" + FILE + "|" + BATCH + ")[0-9a-f]{" + 2 * BYTES + "}");

  private Owners() {}

  /** Returns the owner for an {@code Authorization} header; null is none. */
  public static String of(@Nullable String authorization) {
    if (authorization == null || authorization.isBlank()) {
      return "nobody";
    }
    var hash = hash(authorization.strip().getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(hash, 0, BYTES);
  }

  /** Returns the SHA-256 hash. */
  static byte[] hash(byte[] text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  static String newFile() {
    return FILE + random();
  }

  static String newBatch() {
    return BATCH + random();
  }

  /** Returns 128 random bits as hexadecimal digits. */
  static String random() {
    var bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** Whether {@code id} has the form of the ids made here; no other is ever looked for. */
  static boolean isPossible(String id) {
    return FORM.matcher(id).matches();
  }
}
