package io.dynamo.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of the HTTP port; all files are PEM. Keys: {@code dynamo.http.tls.*}.
 *
 * @param certificate chain that is presented; null serves in the clear
 * @param key of {@code certificate}, there when that is
 * @param clientAuthorities that clients are checked against; null asks for no certificate
 */
public record HttpTlsSettings(
    @Nullable Path certificate, @Nullable Path key, @Nullable Path clientAuthorities) {
  /** Whether the port speaks TLS, and then nothing else. */
  public boolean isOn() {
    return certificate != null;
  }

  /** How URLs of the port begin: {@code https} or {@code http}. */
  public String scheme() {
    return isOn() ? "https" : "http";
  }
}
