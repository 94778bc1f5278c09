package io.dynamo.config;

import io.dynamo.net.UrlHost;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the server as a whole. Keys: {@code dynamo.roles}, {@code dynamo.namespace},
 * {@code dynamo.http.*}, {@code dynamo.security.insecure}, {@code dynamo.security.admin-*}, {@code
 * dynamo.runtime.*}, {@code dynamo.native.extract-dir}, {@code dynamo.config.dump-to}.
 *
 * @param httpMaxConnections open connections of the HTTP port; further ones are closed at once
 * @param admin the rules for administrative routes
 * @param inhibitedDuration how long an instance is set aside after a failure; zero never
 * @param drainTimeout how long running streams may take to end when the server stops
 * @param handoverAfter how long a draining worker continues all its streams before it hands those
 *     that it may not finish to other workers
 * @param nativeExtractDirs folders where the native library may be unpacked, tried in order
 * @param dumpTo the file that all settings are written to at the start; null for none
 */
public record ServerSettings(
    Set<Role> roles,
    String namespace,
    String httpHost,
    int httpPort,
    int httpMaxConnections,
    HttpTlsSettings httpTls,
    boolean insecure,
    AdminSettings admin,
    Duration inhibitedDuration,
    Duration drainTimeout,
    Duration handoverAfter,
    List<Path> nativeExtractDirs,
    @Nullable Path dumpTo) {
  public ServerSettings {
    roles = Set.copyOf(roles);
    nativeExtractDirs = List.copyOf(nativeExtractDirs);
  }

  /** Returns the URL of the HTTP port, as in {@code http://127.0.0.1:8000}. */
  public String httpUrl() {
    return httpTls.scheme() + "://" + UrlHost.of(httpHost) + ":" + httpPort;
  }
}
