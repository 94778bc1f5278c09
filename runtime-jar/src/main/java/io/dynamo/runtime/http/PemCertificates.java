package io.dynamo.runtime.http;

import java.io.ByteArrayInputStream;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;

/** Reads certificates from PEM. */
final class PemCertificates {
  private PemCertificates() {}

  /**
   * Returns the certificates of a file in their order, at least one.
   *
   * @throws BadPemException when there is none, or one is invalid
   */
  static List<X509Certificate> read(String text) {
    var certificates = new ArrayList<X509Certificate>();
    for (var block : PemBlock.of(text)) {
      if (block.label().equals("CERTIFICATE")) {
        certificates.add(certificate(block.der()));
      }
    }
    if (certificates.isEmpty()) {
      throw new BadPemException("holds no certificate in PEM");
    }
    return certificates;
  }

  private static X509Certificate certificate(byte[] der) {
    try {
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(der));
    } catch (CertificateException e) {
      throw new BadPemException("has a certificate that cannot be read", e);
    }
  }
}
