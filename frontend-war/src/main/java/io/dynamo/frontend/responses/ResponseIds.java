package io.dynamo.frontend.responses;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/** Makes the ids of stored responses; they cannot be guessed, which protects the responses. */
public final class ResponseIds {
  private static final RandomGenerator RANDOM = new SecureRandom();
  private static final int RANDOM_BYTES = 16;
  private static final String PREFIX = "resp_";
  private static final Pattern FORM =
      Pattern.compile(PREFIX + "[0-9a-f]{" + 2 * RANDOM_BYTES + "}");

  private ResponseIds() {}

  /** Returns a new id with 128 random bits. */
  public static String next() {
    return PREFIX + random();
  }

  /** Returns 128 random bits as hexadecimal digits. */
  static String random() {
    var bytes = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** Whether {@code id} has the form of the ids made here; no other is ever looked for. */
  static boolean isPossible(String id) {
    return FORM.matcher(id).matches();
  }
}
