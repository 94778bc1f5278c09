package io.dynamo.runtime.http;

import io.dynamo.config.HttpTlsSettings;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.HashMap;
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
  private @Nullable PortFiles inUse; // guarded by this
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
    var now = PortFiles.read(tls);
    if (now.equals(inUse)) {
      return false;
    }
    var identity = now.identity();
    var piece = TlsPiece.withNewNames();
    Map<String, byte[]> stores = new HashMap<>();
    try {
      stores.put(
          piece.identity(), KeyStores.identity(identity.chain(), identity.key(), piece.password()));
    } catch (BadPemException bad) {
      throw new BadFileException("certificate", Objects.requireNonNull(tls.certificate()), bad);
    }
    var authorities = identity.authorities();
    if (authorities != null) {
      stores.put(piece.authorities(), KeyStores.trusted(authorities, piece.password()));
    }
    folder.replace(piece.xml(folder.path(), authorities != null) + port, stores);
    inUse = now;
    return true;
  }
}
