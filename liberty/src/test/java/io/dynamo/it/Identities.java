package io.dynamo.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
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
    keytool(AUTHORITY, "-exportcert", "-rfc", "-file", authorityFile().toString());
    for (var name : names) {
      sign(name);
    }
  }

  /** Of 2048 bits: keytool's own choice takes it four times as long. */
  private void makeKey(String name, String... arguments) throws IOException, InterruptedException {
    var all = new ArrayList<>(List.of("-keyalg", "RSA", "-keysize", "2048"));
    all.addAll(List.of(arguments));
    keytool(name, "-genkeypair", all.toArray(String[]::new));
  }

  private void sign(String name) throws Exception {
    makeKey(name, "-dname", "CN=" + name);
    var request = folder.resolve(name + ".csr").toString();
    keytool(name, "-certreq", "-file", request);
    var certificate = certificateFile(name).toString();
    keytool(
        AUTHORITY,
        "-gencert",
        "-rfc",
        "-ext",
        "san=ip:127.0.0.1",
        "-infile",
        request,
        "-outfile",
        certificate);
    var trusting = folder.resolve(name + "-chain.pem");
    Files.writeString(
        trusting, Files.readString(certificateFile(name)) + Files.readString(authorityFile()));
    keytool(name, "-importcert", "-noprompt", "-file", trusting.toString());
    var key = keys(name).getKey(name, PASSWORD).getEncoded();
    var body = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
    Files.writeString(
        keyFile(name),
        "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
            .formatted(body.encodeToString(key)));
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
   * What a client connects with: it trusts the authority alone.
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

  private KeyStore keys(String name) throws GeneralSecurityException, IOException {
    return KeyStore.getInstance(folder.resolve(name + ".p12").toFile(), PASSWORD);
  }

  private void keytool(String name, String command, String... arguments)
      throws IOException, InterruptedException {
    var all = new ArrayList<String>();
    all.add(Path.of(System.getProperty("java.home"), "bin/keytool").toString());
    all.add("-J-XX:TieredStopAtLevel=1"); // it ends before optimized code would pay
    all.addAll(List.of(command, "-alias", name, "-storepass", new String(PASSWORD)));
    all.addAll(List.of("-keystore", folder.resolve(name + ".p12").toString()));
    all.addAll(List.of(arguments));
    var process = new ProcessBuilder(all).redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(output);
    }
  }
}
