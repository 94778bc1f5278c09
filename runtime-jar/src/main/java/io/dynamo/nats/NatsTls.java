package io.dynamo.nats;

import io.dynamo.config.plane.NatsSettings.NatsTlsSettings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** Makes TLS contexts of PEM files for the client library. */
final class NatsTls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
  private static final char[] NO_PASSWORD = {};

  private NatsTls() {}

  /**
   * @throws IllegalStateException when a file is missing or invalid
   */
  static SSLContext context(NatsTlsSettings settings) {
    try {
      var context = SSLContext.getInstance("TLS");
      context.init(keys(settings.clientCertificate(), settings.clientKey()), trust(settings), null);
      return context;
    } catch (GeneralSecurityException | IOException | RuntimeException e) {
      throw new IllegalStateException(
          "cannot use %s for TLS with NATS: %s; they must be PEM, the key PKCS #8 without a password"
              .formatted(settings, e.getMessage()),
          e);
    }
  }

  private static KeyManager @Nullable [] keys(@Nullable Path chain, @Nullable Path key)
      throws GeneralSecurityException, IOException {
    if (chain == null || key == null) {
      return null;
    }
    var store = emptyStore();
    store.setKeyEntry(
        "client", key(key), NO_PASSWORD, certificates(chain).toArray(Certificate[]::new));
    var factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, NO_PASSWORD);
    return factory.getKeyManagers();
  }

  private static PrivateKey key(Path file) throws GeneralSecurityException, IOException {
    var match = KEY.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
    if (!match.find()) {
      throw new IOException(file + " holds no PRIVATE KEY");
    }
    var spec = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(match.group(1)));
    for (var algorithm : List.of("RSA", "EC")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (InvalidKeySpecException _) {
        // of another kind
      }
    }
    return KeyFactory.getInstance("EdDSA").generatePrivate(spec);
  }

  private static TrustManager[] trust(NatsTlsSettings settings)
      throws GeneralSecurityException, IOException {
    if (settings.insecure()) {
      return new TrustManager[] {new Unchecked()};
    }
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(settings.authorities() == null ? null : store(settings.authorities()));
    for (var manager : factory.getTrustManagers()) {
      if (manager instanceof X509ExtendedTrustManager checking) {
        return new TrustManager[] {new NameChecked(checking)};
      }
    }
    throw new GeneralSecurityException("the JVM has no trust manager for X.509");
  }

  private static KeyStore store(Path authorities) throws GeneralSecurityException, IOException {
    var store = emptyStore();
    int number = 0;
    for (var certificate : certificates(authorities)) {
      store.setCertificateEntry("authority-" + number++, certificate);
    }
    if (number == 0) {
      throw new IOException(authorities + " holds no certificate");
    }
    return store;
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    return store;
  }

  private static List<? extends Certificate> certificates(Path file)
      throws GeneralSecurityException, IOException {
    return List.copyOf(
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file))));
  }

  /** Checks that a certificate names the server, which the client library itself does not. */
  private static final class NameChecked extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager checking;

    NameChecked(X509ExtendedTrustManager checking) {
      this.checking = checking;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
        throws CertificateException {
      if (!(socket instanceof SSLSocket tls)) {
        throw new CertificateException("the name of the server is not known");
      }
      var parameters = tls.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      tls.setSSLParameters(parameters);
      checking.checkServerTrusted(chain, authType, tls);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
        throws CertificateException {
      var parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
      checking.checkServerTrusted(chain, authType, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType)
        throws CertificateException {
      throw new CertificateException("the name of the server is not known");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
        throws CertificateException {
      checking.checkClientTrusted(chain, authType, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
        throws CertificateException {
      checking.checkClientTrusted(chain, authType, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType)
        throws CertificateException {
      checking.checkClientTrusted(chain, authType);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return checking.getAcceptedIssuers();
    }
  }

  /** Accepts every certificate, for {@code dynamo.nats.tls.insecure}. */
  private static final class Unchecked extends X509ExtendedTrustManager {
    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
