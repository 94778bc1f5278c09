package io.dynamo.runtime.http;

import io.dynamo.config.HttpTlsSettings;
import io.dynamo.config.key.InvalidSettingsException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The certificates that a TLS port presents to clients, and checks theirs against.
 *
 * @param chain the server's own certificate first
 * @param authorities that client certificates are checked against; null asks clients for none
 */
public record PortIdentity(
    List<X509Certificate> chain, PrivateKey key, @Nullable List<X509Certificate> authorities) {
  public PortIdentity {
    chain = List.copyOf(chain);
    authorities = authorities == null ? null : List.copyOf(authorities);
  }

  /**
   * Reads the identity of the HTTP port, which must have TLS.
   *
   * @throws InvalidSettingsException when a file is missing or invalid
   */
  public static PortIdentity read(HttpTlsSettings tls) {
    try {
      return PortFiles.read(tls).identity();
    } catch (BadFileException bad) {
      throw new InvalidSettingsException(List.of(String.valueOf(bad.getMessage())));
    }
  }
}
