package io.dynamo.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Makes TLS contexts of clients that trust the certificates of a PEM file and no others. */
public final class PemTrust {
  private PemTrust() {}

  /**
   * Reads the certificates of {@code authorities}, at least one.
   *
   * @throws IOException when the file cannot be read, or holds no certificate
   */
  public static SSLContext context(Path authorities) throws IOException {
    try (var file = Files.newInputStream(authorities)) {
      var store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
        store.setCertificateEntry("authority-" + store.size(), certificate);
      }
      if (store.size() == 0) {
        throw new IOException("it holds no certificate in PEM");
      }
      var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      var context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("its certificates cannot be read: " + e.getMessage(), e);
    }
  }
}
