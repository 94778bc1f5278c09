package io.dynamo.nats;

import io.nats.client.AuthHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.apache.commons.codec.binary.Base32;
import org.jspecify.annotations.Nullable;

/**
 * A user's NKey, an Ed25519 key pair, which signs the challenge of a NATS server. Its texts are
 * base 32 without padding.
 *
 * <pre>
 *  seed:       | 'S' and the kind of key, 2 bytes | 32 bytes | CRC 16, little-endian |
 *  public key: | kind of key, 1 byte              | 32 bytes | CRC 16, little-endian |
 * </pre>
 */
final class NKeyIdentity implements AuthHandler {
  private static final int KEY_BYTES = 32;
  private static final int SEED_PREFIX = 18 << 3; // of 'S'
  private static final int USER = 20 << 3; // of 'U'
  private static final Pattern JWT = block("NATS USER JWT");
  private static final Pattern SEED = block("USER NKEY SEED");

  private final KeyPair keys;
  private final String publicKey;
  private final @Nullable String jwt;

  private NKeyIdentity(String seed, @Nullable String jwt) {
    this.jwt = jwt;
    this.keys = keys(seedBytes(seed));
    this.publicKey = publicKey(keys);
  }

  private static Pattern block(String name) {
    return Pattern.compile("-+BEGIN " + name + "-+\\s+([A-Za-z0-9_.=-]+?)\\s+-+END " + name);
  }

  /**
   * Returns the identity of a user's seed.
   *
   * @throws IllegalStateException when it is no such seed
   */
  static NKeyIdentity ofSeed(String seed) {
    return new NKeyIdentity(seed, null);
  }

  /**
   * Returns the identity in a credentials file.
   *
   * @throws IllegalStateException when the file cannot be read or is of another form
   */
  static NKeyIdentity ofFile(Path file) {
    String text;
    try {
      text = Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new IllegalStateException(
          "dynamo.nats.credentials-file %s cannot be read: %s".formatted(file, e), e);
    }
    var jwt = JWT.matcher(text);
    var seed = SEED.matcher(text);
    if (!jwt.find() || !seed.find()) {
      throw new IllegalStateException(
          "dynamo.nats.credentials-file %s does not hold a user's JWT and NKey seed"
              .formatted(file));
    }
    return new NKeyIdentity(seed.group(1), jwt.group(1));
  }

  private static byte[] seedBytes(String seed) {
    var base32 = new Base32();
    var bytes = base32.isInAlphabet(seed) ? base32.decode(seed) : new byte[0];
    if (bytes.length != KEY_BYTES + 4
        || (bytes[0] & 0xf8) != SEED_PREFIX
        || (((bytes[0] & 7) << 5) | ((bytes[1] & 0xf8) >> 3)) != USER
        || crc(bytes, bytes.length - 2)
            != ((bytes[bytes.length - 2] & 0xff) | (bytes[bytes.length - 1] & 0xff) << 8)) {
      throw new IllegalStateException(
          "dynamo.nats.nkey, or the seed in dynamo.nats.credentials-file, is no seed of a user's"
              + " NKey; it begins with SU");
    }
    return Arrays.copyOfRange(bytes, 2, 2 + KEY_BYTES);
  }

  private static KeyPair keys(byte[] seed) {
    try {
      var generator = KeyPairGenerator.getInstance("Ed25519");
      generator.initialize(NamedParameterSpec.ED25519, new SeedAlone(seed));
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JVM has no Ed25519, which NKeys need", e);
    }
  }

  private static String publicKey(KeyPair keys) {
    var encoded = keys.getPublic().getEncoded(); // ends with the key itself
    var bytes = new byte[1 + KEY_BYTES + 2];
    bytes[0] = (byte) USER;
    System.arraycopy(encoded, encoded.length - KEY_BYTES, bytes, 1, KEY_BYTES);
    int crc = crc(bytes, 1 + KEY_BYTES);
    bytes[1 + KEY_BYTES] = (byte) crc;
    bytes[2 + KEY_BYTES] = (byte) (crc >> 8);
    return new Base32().encodeToString(bytes).replace("=", "");
  }

  /** Returns the CRC 16 of XMODEM: polynomial 0x1021, from 0. */
  private static int crc(byte[] bytes, int length) {
    int crc = 0;
    for (int i = 0; i < length; i++) {
      crc ^= (bytes[i] & 0xff) << 8;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 0x8000) == 0 ? crc << 1 : (crc << 1) ^ 0x1021;
      }
    }
    return crc & 0xffff;
  }

  /** Yields the seed in place of random bytes, so that the generated key is that of the seed. */
  private static final class SeedAlone extends SecureRandom {
    private static final long serialVersionUID = 1L;

    private final byte[] seed;

    SeedAlone(byte[] seed) {
      this.seed = seed;
    }

    @Override
    public void nextBytes(byte[] bytes) {
      if (bytes.length != seed.length) {
        throw new IllegalStateException("an Ed25519 key of " + bytes.length + " bytes");
      }
      System.arraycopy(seed, 0, bytes, 0, seed.length);
    }
  }

  @Override
  public byte[] sign(byte[] nonce) {
    try {
      var signature = Signature.getInstance("Ed25519");
      signature.initSign(keys.getPrivate());
      signature.update(nonce);
      return signature.sign();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the challenge of the NATS server cannot be signed", e);
    }
  }

  @Override
  public char[] getID() {
    return publicKey.toCharArray();
  }

  @Override
  public char @Nullable [] getJWT() {
    return jwt == null ? null : jwt.toCharArray();
  }
}
