package io.dynamo.runtime.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.HttpTlsSettings;
import io.dynamo.config.Settings;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.Certificates;
import io.dynamo.testing.TestSettings;
import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Pattern;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpPortTest {
  @TempDir static Path pem;
  private static Certificates certificates;

  private static final String START = "1234567890123";

  @TempDir Path output;
  private final MBeanServer beans = MBeanServerFactory.newMBeanServer();
  private final List<Exception> taken = new ArrayList<>();
  private int port;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  @BeforeAll
  static void makesCertificates() throws Exception {
    certificates = new Certificates(pem, "ca");
    certificates.sign("server", "ip:127.0.0.1");
    certificates.sign("other", "ip:127.0.0.1");
    certificates.sign("curve", "ip:127.0.0.1", "EC");
    certificates.sign("edwards", "ip:127.0.0.1", "Ed25519");
  }

  @AfterEach
  void endsTheTimer() {
    timer.shutdownNow();
  }

  private static Map<String, String> tls(Path certificate, Path key) {
    return new HashMap<>(
        Map.of(
            "dynamo.http.tls.certificate", certificate.toString(),
            "dynamo.http.tls.key", key.toString()));
  }

  private static Map<String, String> tls(String name) {
    return tls(certificates.certificateFile(name), certificates.keyFile(name));
  }

  private void open(Map<String, String> values) throws Exception {
    open(settings(values)).close();
  }

  /** On a port that is free. */
  private Settings settings(Map<String, String> values) {
    var all = new HashMap<>(values);
    all.putIfAbsent("dynamo.http.port", Integer.toString(port));
    return TestSettings.with(all);
  }

  @BeforeEach
  void findsAFreePort() throws Exception {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
  }

  private AutoCloseable open(Settings settings) {
    return open(settings, START);
  }

  private AutoCloseable open(Settings settings, String start) {
    var container = new Container(output, start, beans);
    return HttpPort.open(settings.server(), settings.frontend(), container, timer, taken::add);
  }

  private Path folder() {
    return output.resolve("http-port").resolve(START);
  }

  private String piece() throws Exception {
    return Files.readString(folder().resolve("port.xml"));
  }

  private static String found(String text, String pattern) {
    var matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as("%s in %s", pattern, text).isTrue();
    return matcher.group(1);
  }

  /** A store that the piece names. */
  private KeyStore store(String id) throws Exception {
    var element = found(piece(), "(<keyStore id=\"" + id + "\"[^>]*>)");
    var location = found(element, "location=\"\\$\\{server.output.dir}/([^\"]+)\"");
    var password = found(element, "password=\"([^\"]+)\"").toCharArray();
    File file = output.resolve(location).toFile();
    return KeyStore.getInstance(file, password);
  }

  private X509Certificate certificate() throws Exception {
    return (X509Certificate) store("dynamoIdentity").getCertificate("server");
  }

  private static X509Certificate certificate(String name) throws Exception {
    return PemCertificates.read(Files.readString(certificates.certificateFile(name))).getFirst();
  }

  @Test
  void thePortIsOpenedWhereTheSettingsSay() throws Exception {
    open(Map.of("dynamo.http.host", "localhost"));

    assertThat(piece())
        .contains(
            "<httpEndpoint id=\"defaultHttpEndpoint\" enabled=\"true\" host=\"localhost\" httpPort=\"%d\" httpsPort=\"-1\"/>"
                .formatted(port))
        .doesNotContain("httpOptions", "keyStore");
  }

  @Test
  void aPortThatAnotherHasIsRefusedBeforeAnythingIsWritten() throws Exception {
    try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      for (var host : List.of("127.0.0.1", "localhost", "*")) {
        var settings =
            settings(Map.of("dynamo.http.host", host, "dynamo.security.insecure", "true"));

        assertThatThrownBy(() -> open(settings))
            .isInstanceOf(InvalidSettingsException.class)
            .hasMessageContaining(
                "dynamo.http.port = \"%d\" cannot be opened on dynamo.http.host = \"%s\""
                    .formatted(port, host));
      }
    }
    assertThat(output).isEmptyDirectory();
    open(Map.of());
    assertThat(piece()).contains("enabled=\"true\"");
  }

  @Test
  void aHostThatIsNoAddressIsRefused() {
    var settings =
        settings(Map.of("dynamo.http.host", "no such host", "dynamo.security.insecure", "true"));

    assertThatThrownBy(() -> open(settings))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.http.host = \"no such host\" is no address");
    assertThat(output).isEmptyDirectory();
  }

  /** As when the application starts again in a server that goes on. */
  @Test
  void aPortThatThisServerHasOpenedItselfIsNotTaken() throws Exception {
    beans.registerMBean(
        new StandardMBean((OpenedPort) () -> port, OpenedPort.class),
        new ObjectName("WebSphere:feature=channelfw,type=endpoint,name=defaultHttpEndpoint-ssl"));
    try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      open(Map.of());
    }

    assertThat(piece()).contains("enabled=\"true\"");
  }

  /** The container's bean of an open port, as far as it is read. */
  public interface OpenedPort {
    int getPort();
  }

  /** Such a piece would open the port before the settings are read, or in spite of them. */
  @Test
  void filesOfEarlierStartsAreRemoved() throws Exception {
    open(settings(tls("server")), "111").close();
    var old = output.resolve("http-port");
    Files.writeString(old.resolve("port.xml"), "<server/>"); // where it was once

    open(Map.of());

    assertThat(old.toFile().list()).containsExactly(START);
    assertThat(folder().toFile().list()).containsExactly("port.xml");
  }

  @Test
  void theShippedFileHasTheLimitsThatTheDefaultsAskFor() throws Exception {
    var http =
        Files.readString(Path.of("../server-config/src/main/liberty/config/config/http.xml"));
    var settings = TestSettings.defaults();

    assertThat(PortLimits.of(settings.server(), settings.frontend()))
        .isEqualTo(
            new PortLimits(
                Long.parseLong(found(http, "readTimeout=\"(\\d+)s\"")),
                Long.parseLong(found(http, "writeTimeout=\"(\\d+)s\"")),
                Integer.parseInt(found(http, "maxOpenConnections=\"(\\d+)\""))));
    assertThat(found(http, "inactivityTimeout=\"(\\d+)s\""))
        .isEqualTo(found(http, "readTimeout=\"(\\d+)s\""));
    assertThat(http)
        .contains("id=\"dynamoHttp\"", "id=\"dynamoTcp\"")
        .contains("id=\"defaultHttpEndpoint\" enabled=\"false\"")
        .contains("${server.output.dir}/" + HttpPort.FOLDER + "/${kernel.launch.time}/port.xml");
  }

  @Test
  void limitsOfTheSettingsReachTheContainerInWholeSeconds() throws Exception {
    open(
        Map.of(
            "dynamo.frontend.write-stall", "1500ms",
            "dynamo.frontend.upload-timeout", "10ms",
            "dynamo.http.max-connections", "77"));

    assertThat(piece())
        .contains("readTimeout=\"1s\"", "writeTimeout=\"2s\"")
        .contains("inactivityTimeout=\"1s\" maxOpenConnections=\"77\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"server", "curve", "edwards"})
  void thePortSpeaksTlsWithTheKeyAndTheChainOfThePemFiles(String name) throws Exception {
    open(tls(name));

    assertThat(piece())
        .contains("httpPort=\"-1\" httpsPort=\"" + port + "\" sslOptionsRef=\"dynamoTlsOptions\"")
        .doesNotContain("clientAuthentication");
    assertThat(certificate()).isEqualTo(certificate(name));
    var password = found(piece(), "password=\"([^\"]+)\"").toCharArray();
    assertThat(store("dynamoIdentity").getKey("server", password)).isNotNull();
  }

  @Test
  void clientsAreCheckedAgainstTheirAuthoritiesOnly() throws Exception {
    var values = tls("server");
    values.put("dynamo.http.tls.client-authorities", certificates.authorityFile().toString());
    open(values);

    assertThat(piece())
        .contains("trustStoreRef=\"dynamoAuthorities\" clientAuthentication=\"true\"");
    var trusted = store("dynamoAuthorities");
    assertThat(trusted.size()).isEqualTo(1);
    assertThat(trusted.getCertificate("authority-0"))
        .isEqualTo(PemCertificates.read(Files.readString(certificates.authorityFile())).getFirst());
  }

  @Test
  void onlyTheServersOwnAccountReadsTheCopyOfTheKey() throws Exception {
    open(tls("server"));

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder())))
        .isEqualTo("rwx------");
    try (var files = Files.list(folder())) {
      assertThat(files)
          .hasSize(2)
          .allSatisfy(
              file ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                      .isEqualTo("rw-------"));
    }
  }

  /** PKCS #1 and SEC 1 are what stands inside PKCS #8. */
  @ParameterizedTest
  @CsvSource({"server,RSA", "curve,EC"})
  void olderFormsOfKeysAreRead(String name, String algorithm) throws Exception {
    var lines = Files.readString(certificates.keyFile(name)).lines().toList();
    var pkcs8 = Base64.getDecoder().decode(String.join("", lines.subList(1, lines.size() - 1)));
    int head = pkcs8[1] >= 0 ? 2 : 2 + (pkcs8[1] & 0x7F);
    int algorithmEnd = head + 3 + 2 + pkcs8[head + 4]; // version, then a short element
    int octets = pkcs8[algorithmEnd + 1];
    int inner = algorithmEnd + (octets >= 0 ? 2 : 2 + (octets & 0x7F));
    var key = Files.createTempFile(output, "old", ".pem");
    var der = Arrays.copyOfRange(pkcs8, inner, pkcs8.length);
    Files.writeString(
        key,
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
            + Certificates.encoded(algorithm + " PRIVATE KEY", der));

    open(tls(certificates.certificateFile(name), key));

    assertThat(certificate()).isEqualTo(certificate(name));
  }

  @Test
  void aKeyOfAnotherCertificateIsRefused() {
    var values = tls(certificates.certificateFile("server"), certificates.keyFile("other"));

    assertThatThrownBy(() -> open(values))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(
            "dynamo.http.tls.key = \"%s\" is not the key of the certificate"
                .formatted(certificates.keyFile("other")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ENCRYPTED PRIVATE KEY | has a password; take it off",
        "CERTIFICATE | holds no private key in PEM",
        "PRIVATE KEY | holds no RSA key, which its certificate has",
      })
  void aFileThatHoldsNoUsableKeyIsRefused(String label, String why) throws Exception {
    var key = output.resolve("key.pem");
    Files.writeString(key, Certificates.encoded(label, new byte[] {1, 2, 3}));

    assertThatThrownBy(() -> open(tls(certificates.certificateFile("server"), key)))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.http.tls.key = \"" + key + "\" " + why);
  }

  /** As OpenSSL wrote them before PKCS #8. */
  @Test
  void aKeyThatIsEncryptedInItsOldFormIsRefusedForItsPassword() throws Exception {
    var key = output.resolve("key.pem");
    Files.writeString(
        key,
        Certificates.encoded("RSA PRIVATE KEY", new byte[64])
            .replaceFirst(
                "KEY-----\n",
                "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"));

    assertThatThrownBy(() -> open(tls(certificates.certificateFile("server"), key)))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("has a password; take it off");
  }

  @Test
  void aFileThatIsNotThereIsRefused() {
    var missing = output.resolve("nothing.pem");

    assertThatThrownBy(() -> open(tls(missing, certificates.keyFile("server"))))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.http.tls.certificate = \"" + missing + "\" cannot be read");
  }

  @Test
  void changedFilesAreTakenOverAndBrokenOnesAreNot() throws Exception {
    var certificate = output.resolve("certificate.pem");
    var key = output.resolve("key.pem");
    Files.copy(certificates.certificateFile("server"), certificate);
    Files.copy(certificates.keyFile("server"), key);
    var files =
        new TlsFiles(
            new HttpTlsSettings(certificate, key, null),
            new PortAddress("127.0.0.1", port).xml(true),
            new PieceFolder(output.resolve("http-port"), START));
    assertThat(files.update()).isTrue();
    var before = piece();

    Files.writeString(certificate, "-----BEGIN CERT", StandardCharsets.US_ASCII);
    files.reload();
    assertThat(piece()).isEqualTo(before);
    assertThat(certificate()).isEqualTo(certificate("server"));

    Files.writeString(certificate, Files.readString(certificates.certificateFile("other")));
    Files.writeString(key, Files.readString(certificates.keyFile("other")));
    files.reload();
    assertThat(piece()).isNotEqualTo(before);
    assertThat(certificate()).isEqualTo(certificate("other"));
    assertThat(files.update()).isFalse();
    assertThat(folder().toFile().list()).as("the piece, its store and the one before").hasSize(3);
  }

  @Test
  void withoutAContainerTheSettingsMustAskForNothing() throws Exception {
    var plain = TestSettings.defaults();
    HttpPort.open(plain.server(), plain.frontend(), null, timer, taken::add).close();

    var secure = TestSettings.with(tls("server"));
    assertThatThrownBy(
            () -> HttpPort.open(secure.server(), secure.frontend(), null, timer, taken::add))
        .hasMessageContaining("no server.output.dir");
  }
}
