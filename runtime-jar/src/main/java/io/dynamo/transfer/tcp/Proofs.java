package io.dynamo.transfer.tcp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The proofs by which both sides of a connection show that they know the secret of a lease:
 * HMAC-SHA-256 over the role, the lease and both nonces, so that neither can be replayed or turned
 * round.
 */
final class Proofs {
  static final int NONCE_BYTES = 32;
  static final int PROOF_BYTES = 32;

  private static final String ALGORITHM = "HmacSHA256";

  private Proofs() {}

  static byte[] ofOwner(byte[] secret, long lease, byte[] callerNonce, byte[] ownerNonce) {
    return proof("owner", secret, lease, callerNonce, ownerNonce);
  }

  /** The proof of the side that calls; its role is named {@code writer} also where it reads. */
  static byte[] ofCaller(byte[] secret, long lease, byte[] callerNonce, byte[] ownerNonce) {
    return proof("writer", secret, lease, callerNonce, ownerNonce);
  }

  /** Compares in a time that does not depend on where they differ. */
  static boolean isSame(byte[] proof, byte[] expected) {
    return MessageDigest.isEqual(proof, expected);
  }

  private static byte[] proof(
      String role, byte[] secret, long lease, byte[] callerNonce, byte[] ownerNonce) {
    try {
      var mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      mac.update(role.getBytes(StandardCharsets.US_ASCII));
      mac.update(ByteBuffer.allocate(Long.BYTES).putLong(lease).flip());
      mac.update(callerNonce);
      return mac.doFinal(ownerNonce);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }
}
