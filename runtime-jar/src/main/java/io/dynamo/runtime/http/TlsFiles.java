package io.dynamo.runtime.http;

import io.dynamo.config.HttpTlsSettings;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files of the HTTP port. They are read again when they change, on the timer's thread; the
 * container reads PKCS #12, so that it gets a converted copy. Safe for concurrent use.
 */
final class TlsFiles {
  private static final System.Logger LOG = System.getLogger(TlsFiles.class.getName());
  private static final long BETWEEN_LOOKS_SECONDS = 30; // as on the request plane

  private final HttpTlsSettings tls;
  private final String port; // the elements of the port that are not about TLS
  private final PieceFolder folder; // guarded by this
  private Map<Path, String> inUse = Map.of(); // guarded by this
  private String complaint = ""; // logged last; guarded by this

  /**
   * @param port the elements of the configuration file that are not about TLS
   */
  TlsFiles(HttpTlsSettings tls, String port, PieceFolder folder) {
    this.tls = tls;
    this.port = port;
    this.folder = folder;
  }

  /**
   * Reads the files, configures the container, and watches the files until the result is closed.
   */
  static AutoCloseable open(
      HttpTlsSettings tls, String port, PieceFolder folder, ScheduledExecutorService timer)
      throws BadFileException, IOException {
    var files = new TlsFiles(tls, port, folder);
    files.update();
    var looking =
        timer.scheduleWithFixedDelay(
            files::reload, BETWEEN_LOOKS_SECONDS, BETWEEN_LOOKS_SECONDS, TimeUnit.SECONDS);
    return () -> looking.cancel(false);
  }

  /**
   * Reads the files again and reconfigures the container if they have changed. Unusable files, for
   * example half-written ones, leave the previous configuration in place; that is logged once.
   */
  synchronized void reload() {
    try {
      if (update()) {
        LOG.log(Level.INFO, "the TLS files of the HTTP port have changed and are in use");
      } else if (!complaint.isEmpty()) {
        LOG.log(Level.INFO, "the TLS files of the HTTP port are again those in use");
      }
      complaint = "";
    } catch (BadFileException | IOException | RuntimeException e) {
      var now = e.toString();
      if (!now.equals(complaint)) {
        complaint = now;
        LOG.log(
            Level.WARNING,
            "the HTTP port stays with the TLS files it has read before: {0}",
            e.getMessage());
      }
    }
  }

  /** Returns whether the files had changed. */
  synchronized boolean update() throws BadFileException, IOException {
    var now = read();
    if (now.equals(inUse)) {
      return false;
    }
    var piece = TlsPiece.withNewNames();
    Map<String, byte[]> stores = new HashMap<>();
    stores.put(piece.identity(), identity(now, piece.password()));
    var authorities = tls.clientAuthorities();
    if (authorities != null) {
      stores.put(piece.authorities(), trusted(authorities, now, piece.password()));
    }
    folder.replace(piece.xml(folder.path(), authorities != null) + port, stores);
    inUse = now;
    return true;
  }

  private Map<Path, String> read() throws BadFileException {
    Map<Path, String> read = new HashMap<>();
    read(read, "certificate", tls.certificate());
    read(read, "key", tls.key());
    read(read, "client-authorities", tls.clientAuthorities());
    return read;
  }

  private static void read(Map<Path, String> into, String setting, @Nullable Path file)
      throws BadFileException {
    if (file != null) {
      try {
        into.put(file, Files.readString(file, StandardCharsets.ISO_8859_1));
      } catch (IOException e) {
        throw new BadFileException(setting, file, new BadPemException("cannot be read: " + e, e));
      }
    }
  }

  private byte[] identity(Map<Path, String> from, String password) throws BadFileException {
    var certificate = Objects.requireNonNull(tls.certificate());
    var key = Objects.requireNonNull(tls.key());
    List<X509Certificate> chain;
    try {
      chain = PemCertificates.read(text(certificate, from));
    } catch (BadPemException bad) {
      throw new BadFileException("certificate", certificate, bad);
    }
    PrivateKey own;
    try {
      own = PemKey.read(text(key, from), chain.getFirst().getPublicKey());
    } catch (BadPemException bad) {
      throw new BadFileException("key", key, bad);
    }
    try {
      return KeyStores.identity(chain, own, password);
    } catch (BadPemException bad) {
      throw new BadFileException("certificate", certificate, bad);
    }
  }

  private static byte[] trusted(Path authorities, Map<Path, String> from, String password)
      throws BadFileException {
    try {
      return KeyStores.trusted(PemCertificates.read(text(authorities, from)), password);
    } catch (BadPemException bad) {
      throw new BadFileException("client-authorities", authorities, bad);
    }
  }

  private static String text(Path file, Map<Path, String> from) {
    return Objects.requireNonNull(from.get(file));
  }
}
