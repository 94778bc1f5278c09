package io.dynamo.runtime.http;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;

/**
 * Reads the private key of a certificate from PEM: PKCS #8, or the older forms PKCS #1 for RSA and
 * SEC 1 for elliptic curves, whose missing part is taken from the certificate. Encrypted keys are
 * not supported.
 */
final class PemKey {
  private static final int SEQUENCE = 0x30;
  private static final int OCTET_STRING = 0x04;
  private static final byte[] VERSION_0 = {0x02, 0x01, 0x00};

  private PemKey() {}

  /**
   * Returns the first key of a file.
   *
   * @param mate the public key of the certificate
   * @throws BadPemException when there is none that can be read, or it belongs to another
   *     certificate
   */
  static PrivateKey read(String text, PublicKey mate) {
    for (var block : PemBlock.of(text)) {
      if (block.label().endsWith("PRIVATE KEY")) {
        if (block.isEncrypted() || block.label().startsWith("ENCRYPTED")) {
          throw new BadPemException(
              "has a password; take it off: openssl pkcs8 -topk8 -nocrypt -in … -out …");
        }
        var der = block.der();
        var key = decode(block.label().equals("PRIVATE KEY") ? der : wrap(der, mate), mate);
        requireMate(key, mate);
        return key;
      }
    }
    throw new BadPemException("holds no private key in PEM");
  }

  private static PrivateKey decode(byte[] pkcs8, PublicKey mate) {
    try {
      return KeyFactory.getInstance(mate.getAlgorithm())
          .generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
    } catch (GeneralSecurityException e) {
      throw new BadPemException(
          "holds no " + mate.getAlgorithm() + " key, which its certificate has", e);
    }
  }

  /** Wraps an older form in PKCS #8; the algorithm is the one that the certificate names. */
  private static byte[] wrap(byte[] der, PublicKey mate) {
    var subject = contentOf(mate.getEncoded()); // SubjectPublicKeyInfo: algorithm, then key
    var algorithm = Arrays.copyOf(subject, lengthOf(subject));
    var content = new ByteArrayOutputStream();
    content.writeBytes(VERSION_0);
    content.writeBytes(algorithm);
    content.writeBytes(element(OCTET_STRING, der));
    return element(SEQUENCE, content.toByteArray());
  }

  private static byte[] element(int tag, byte[] content) {
    var out = new ByteArrayOutputStream(content.length + 5);
    out.write(tag);
    int length = content.length;
    if (length < 0x80) {
      out.write(length);
    } else {
      out.write(0x84); // four bytes of length follow
      for (int shift = 24; shift >= 0; shift -= 8) {
        out.write(length >>> shift);
      }
    }
    out.writeBytes(content);
    return out.toByteArray();
  }

  private static byte[] contentOf(byte[] element) {
    return Arrays.copyOfRange(element, headOf(element), element.length);
  }

  /** Returns the bytes of the element at the start of {@code der}, header included. */
  private static int lengthOf(byte[] der) {
    int first = der[1] & 0xFF;
    int length = first;
    if (first >= 0x80) {
      length = 0;
      for (int i = 0; i < first - 0x80; i++) {
        length = (length << 8) | (der[2 + i] & 0xFF);
      }
    }
    return headOf(der) + length;
  }

  private static int headOf(byte[] der) {
    int first = der[1] & 0xFF;
    return first < 0x80 ? 2 : 2 + first - 0x80;
  }

  /**
   * Checks that a key and a public key belong together: a signature of the one must verify with the
   * other.
   */
  private static void requireMate(PrivateKey key, PublicKey mate) {
    var algorithm =
        switch (mate.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          case "EdDSA" -> "EdDSA";
          default ->
              throw new BadPemException(
                  "is for a certificate with a key of "
                      + mate.getAlgorithm()
                      + "; use RSA, an elliptic curve or EdDSA");
        };
    var said = "one key".getBytes(StandardCharsets.US_ASCII);
    boolean fits;
    try {
      var signing = Signature.getInstance(algorithm);
      signing.initSign(key);
      signing.update(said);
      var signature = signing.sign();
      var verifying = Signature.getInstance(algorithm);
      verifying.initVerify(mate);
      verifying.update(said);
      fits = verifying.verify(signature);
    } catch (GeneralSecurityException e) {
      throw new BadPemException("cannot be used to sign", e);
    }
    if (!fits) {
      throw new BadPemException("is not the key of the certificate");
    }
  }
}
