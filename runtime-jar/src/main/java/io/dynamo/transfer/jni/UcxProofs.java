package io.dynamo.transfer.jni;

import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.UcxOffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Proofs for a writer by UCX that an offer, and the memory behind it, belong to an owner who knows
 * the lease's secret: HMAC-SHA-256 over a role, the lease and the region's size.
 */
final class UcxProofs {
  private static final String ALGORITHM = "HmacSHA256";
  private static final byte[] NOTHING = {};

  private UcxProofs() {}

  /** Returns the bytes that an owner publishes beside a region. */
  static byte[] proof(RegionAddress address) {
    return hmac("ucx proof", address, NOTHING);
  }

  static UcxOffer sealed(RegionAddress address, byte[] offer) {
    return new UcxOffer(offer, hmac("ucx offer", address, offer));
  }

  static boolean isSealed(RegionAddress address, UcxOffer offer) {
    return MessageDigest.isEqual(hmac("ucx offer", address, offer.bytes()), offer.seal());
  }

  private static byte[] hmac(String role, RegionAddress address, byte[] bytes) {
    try {
      var mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(address.secret(), ALGORITHM));
      mac.update(role.getBytes(StandardCharsets.US_ASCII));
      var numbers = ByteBuffer.allocate(2 * Long.BYTES);
      mac.update(numbers.putLong(address.lease()).putLong(address.byteSize()).flip());
      return mac.doFinal(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }
}
