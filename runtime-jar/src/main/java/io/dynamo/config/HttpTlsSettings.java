package io.dynamo.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of the HTTP port; all files are PEM. Keys: {@code dynamo.http.tls.*}.
 *
 * @param certificate chain that is presented; null serves without TLS
 * @param key of {@code certificate}, set together with it
 * @param clientAuthorities authorities that client certificates are checked against; null requests
 *     no certificate
 */
public record HttpTlsSettings(
    @Nullable Path certificate, @Nullable Path key, @Nullable Path clientAuthorities) {
  /** Whether the port uses TLS, and then exclusively. */
  public boolean isOn() {
    return certificate != null;
  }

  /** Returns the scheme of the port's URLs: {@code https} or {@code http}. */
  public String scheme() {
    return isOn() ? "https" : "http";
  }
}
