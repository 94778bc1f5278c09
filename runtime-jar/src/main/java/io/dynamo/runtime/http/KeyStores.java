package io.dynamo.runtime.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/** Converts PEM data to the PKCS #12 that the container reads. */
final class KeyStores {
  private KeyStores() {}

  /**
   * Returns a store of one key with its chain.
   *
   * @throws BadPemException when the chain's certificates do not sign each other in their order
   */
  static byte[] identity(List<X509Certificate> chain, PrivateKey key, String password) {
    try {
      var store = empty();
      store.setKeyEntry(
          "server", key, password.toCharArray(), chain.toArray(X509Certificate[]::new));
      return bytes(store, password);
    } catch (GeneralSecurityException | IOException e) {
      throw new BadPemException(
          "is no chain, where each certificate is signed by the next: " + e.getMessage(), e);
    }
  }

  /** Returns a store of trusted certificates. */
  static byte[] trusted(List<X509Certificate> authorities, String password) {
    try {
      var store = empty();
      for (int i = 0; i < authorities.size(); i++) {
        store.setCertificateEntry("authority-" + i, authorities.get(i));
      }
      return bytes(store, password);
    } catch (GeneralSecurityException | IOException e) {
      throw new BadPemException("cannot be trusted: " + e.getMessage(), e);
    }
  }

  private static KeyStore empty() throws GeneralSecurityException, IOException {
    var store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static byte[] bytes(KeyStore store, String password)
      throws GeneralSecurityException, IOException {
    var out = new ByteArrayOutputStream();
    store.store(out, password.toCharArray());
    return out.toByteArray();
  }
}
