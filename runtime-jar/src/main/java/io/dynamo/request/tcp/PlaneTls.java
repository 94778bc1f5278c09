package io.dynamo.request.tcp;

import io.dynamo.config.plane.TlsSettings;
import io.dynamo.pipeline.TlsContext;
import io.dynamo.pipeline.TlsContext.PemFiles;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * The TLS settings of one side of the plane.
 *
 * @param accepting for this side's listener; null to listen without TLS
 * @param connecting for outgoing connections; null to connect without TLS
 */
public record PlaneTls(@Nullable TlsContext accepting, @Nullable TlsContext connecting)
    implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(PlaneTls.class.getName());

  /**
   * Reads the TLS files. Logs a warning when listeners use TLS and outgoing connections do not:
   * such a process cannot reach others configured alike.
   *
   * @throws IllegalStateException when a file is missing or invalid
   */
  public static PlaneTls of(TlsSettings settings) {
    if (settings.certificate() != null && settings.authorities() == null && !settings.insecure()) {
      LOG.log(
          Level.WARNING,
          "the request plane's listeners speak TLS and what connects does not: other processes with"
              + " these settings are not reached; set dynamo.request.tcp.tls.authorities");
    }
    return open(settings);
  }

  /** The contexts of a process that speaks both TCP and HTTP/2. */
  record OfBothPlanes(PlaneTls tcp, PlaneTls http2) implements AutoCloseable {
    /**
     * Reads the TLS files for both.
     *
     * @throws IllegalStateException when a file is missing or invalid
     */
    static OfBothPlanes of(TlsSettings settings) {
      var tcp = PlaneTls.of(settings);
      try {
        return new OfBothPlanes(tcp, ofHttp2(settings));
      } catch (RuntimeException e) {
        tcp.close();
        throw e;
      }
    }

    @Override
    public void close() {
      tcp.close();
      http2.close();
    }
  }

  /** Reads the TLS files, like the other, for listeners and connections that speak HTTP/2. */
  private static PlaneTls ofHttp2(TlsSettings settings) {
    return open(settings, "h2");
  }

  private static PlaneTls open(TlsSettings settings, String... protocols) {
    var accepting =
        settings.certificate() == null
            ? null
            : TlsContext.ofServer(
                new PemFiles(settings.certificate(), settings.key(), settings.clientAuthorities()),
                settings.handshakeTimeout(),
                protocols);
    try {
      return new PlaneTls(accepting, connecting(settings, protocols));
    } catch (RuntimeException e) {
      if (accepting != null) {
        accepting.close();
      }
      throw e;
    }
  }

  private static @Nullable TlsContext connecting(TlsSettings settings, String... protocols) {
    if (settings.authorities() == null && !settings.insecure()) {
      return null;
    }
    return TlsContext.ofClient(
        new PemFiles(
            settings.clientCertificate(),
            settings.clientKey(),
            settings.insecure() ? null : settings.authorities()),
        settings.serverName(),
        settings.handshakeTimeout(),
        protocols);
  }

  @Override
  public void close() {
    if (accepting != null) {
      accepting.close();
    }
    if (connecting != null) {
      connecting.close();
    }
  }
}
