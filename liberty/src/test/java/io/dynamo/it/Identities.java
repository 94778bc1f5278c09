package io.dynamo.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * A certificate authority and those it vouches for, made by the JDK's {@code keytool}: PEM files
 * for servers, contexts for clients. Used by one test thread.
 */
final class Identities {
  private static final char[] PASSWORD = "changeit".toCharArray();
  private static final String AUTHORITY = "authority";

  private final Path folder;

  /** Makes the authority, and those it names, for 127.0.0.1. */
  Identities(Path folder, String... names) throws Exception {
    this.folder = Files.createDirectories(folder);
    makeKey(AUTHORITY, "-dname", "CN=test authority", "-ext", "bc:c");
    Files.writeString(authorityFile(), pem(keys(AUTHORITY).getCertificate(AUTHORITY)));
    for (var name : names) {
      sign(name);
    }
  }

  /** Of 2048 bits: keytool's own choice takes it four times as long. */
  private void makeKey(String name, String... arguments) throws IOException, InterruptedException {
    var all = new ArrayList<>(List.of("-keyalg", "RSA", "-keysize", "2048"));
    all.addAll(List.of(arguments));
    keytool(name, all);
  }

  /** The authority's key is beside the new one while it signs, and no longer. */
  private void sign(String name) throws Exception {
    Files.copy(store(AUTHORITY), store(name));
    makeKey(name, "-dname", "CN=" + name, "-ext", "san=ip:127.0.0.1", "-signer", AUTHORITY);
    var own = keys(name);
    own.deleteEntry(AUTHORITY);
    try (var file = Files.newOutputStream(store(name))) {
      own.store(file, PASSWORD);
    }
    Files.writeString(certificateFile(name), pem(own.getCertificate(name)));
    var key = own.getKey(name, PASSWORD).getEncoded();
    Files.writeString(keyFile(name), block("PRIVATE KEY", key));
  }

  private static String pem(Certificate certificate) throws GeneralSecurityException {
    return block("CERTIFICATE", certificate.getEncoded());
  }

  private static String block(String what, byte[] der) {
    var body = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(what, body.encodeToString(der), what);
  }

  /** The authority's certificate in PEM. */
  Path authorityFile() {
    return folder.resolve("authority.pem");
  }

  Path certificateFile(String name) {
    return folder.resolve(name + ".pem");
  }

  Path keyFile(String name) {
    return folder.resolve(name + ".key");
  }

  /**
   * Returns the TLS context of a client that trusts the authority alone.
   *
   * @param name whom it presents itself as; null presents nothing
   */
  SSLContext client(@Nullable String name) throws GeneralSecurityException, IOException {
    return client(name, this);
  }

  /**
   * The same for a client that trusts the authority of others.
   *
   * @param name whom it presents itself as; null presents nothing
   */
  SSLContext client(@Nullable String name, Identities others)
      throws GeneralSecurityException, IOException {
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    var trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(AUTHORITY, others.keys(AUTHORITY).getCertificate(AUTHORITY));
    trust.init(trusted);
    var own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(name == null ? null : keys(name), PASSWORD);
    var context = SSLContext.getInstance("TLS");
    context.init(name == null ? null : own.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  private Path store(String name) {
    return folder.resolve(name + ".p12");
  }

  private KeyStore keys(String name) throws GeneralSecurityException, IOException {
    return KeyStore.getInstance(store(name).toFile(), PASSWORD);
  }

  private void keytool(String name, List<String> arguments)
      throws IOException, InterruptedException {
    var all = new ArrayList<String>();
    all.add(Path.of(System.getProperty("java.home"), "bin/keytool").toString());
    all.add("-J-XX:TieredStopAtLevel=1"); // it ends before optimized code would pay
    all.addAll(List.of("-genkeypair", "-alias", name, "-storepass", new String(PASSWORD)));
    all.addAll(List.of("-keystore", store(name).toString()));
    all.addAll(arguments);
    var process = new ProcessBuilder(all).redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(output);
    }
  }
}
