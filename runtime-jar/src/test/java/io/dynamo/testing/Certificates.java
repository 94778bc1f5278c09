package io.dynamo.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * A certificate authority made for one test run by the JDK's own {@code keytool}, and what it
 * signs, as PEM files below a folder. RSA: rustls does not read the elliptic keys that the JDK
 * writes.
 */
public final class Certificates {
  private static final String PASSWORD = "changeit";
  private static final String RSA_BITS =
      "2048"; // keytool's default of 3072 takes four times as long

  private final Path folder;
  private final String authority;

  /**
   * @param authority name of the authority, and of its files
   */
  public Certificates(Path folder, String authority) throws Exception {
    this.folder = folder;
    this.authority = authority;
    keytool(
        store(authority),
        "-genkeypair",
        "-keyalg",
        "RSA",
        "-keysize",
        RSA_BITS,
        "-dname",
        "CN=" + authority,
        "-ext",
        "bc:c");
    Files.writeString(authorityFile(), pem(store(authority), authority));
  }

  /** The authority's certificate. */
  public Path authorityFile() {
    return folder.resolve(authority + ".ca.pem");
  }

  public Path certificateFile(String name) {
    return folder.resolve(name + ".cert.pem");
  }

  public Path keyFile(String name) {
    return folder.resolve(name + ".key.pem");
  }

  /**
   * Makes {@code name} a key and a certificate, over those that it may have.
   *
   * @param alternative as in {@code ip:127.0.0.1} or {@code dns:worker.test}
   */
  public void sign(String name, String alternative) throws Exception {
    sign(name, alternative, "RSA");
  }

  /**
   * Makes {@code name} a key and a certificate, over those that it may have.
   *
   * @param algorithm of its key, as keytool has it
   */
  public void sign(String name, String alternative, String algorithm) throws Exception {
    var own = Files.copy(store(authority), store(name), StandardCopyOption.REPLACE_EXISTING);
    List<String> key =
        new ArrayList<>(
            List.of(
                "-keyalg",
                algorithm,
                "-dname",
                "CN=" + name,
                "-ext",
                "san=" + alternative,
                "-signer",
                authority));
    if (algorithm.equals("RSA")) {
      key.addAll(List.of("-keysize", RSA_BITS));
    }
    keytool(own, "-genkeypair", key.toArray(String[]::new));
    Files.writeString(certificateFile(name), pem(own, name));
    var made = keys(own).getKey(name, PASSWORD.toCharArray());
    Files.writeString(keyFile(name), encoded("PRIVATE KEY", made.getEncoded()));
  }

  private Path store(String name) {
    return folder.resolve(name + ".p12");
  }

  private static String alias(Path store) {
    return store.getFileName().toString().replace(".p12", "");
  }

  private static KeyStore keys(Path store) throws Exception {
    return KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
  }

  private static String pem(Path store, String alias) throws Exception {
    return encoded("CERTIFICATE", keys(store).getCertificate(alias).getEncoded());
  }

  /** A PEM block. */
  public static String encoded(String what, byte[] der) {
    var body = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
    return "-----BEGIN %s-----%n%s%n-----END %s-----%n"
        .formatted(what, body.encodeToString(der), what);
  }

  private static void keytool(Path store, String command, String... arguments)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>();
    all.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    all.add("-J-XX:TieredStopAtLevel=1"); // it ends before optimized code would pay
    all.add(command);
    all.addAll(
        List.of("-keystore", store.toString(), "-storepass", PASSWORD, "-alias", alias(store)));
    all.addAll(List.of(arguments));
    var process = new ProcessBuilder(all).redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
