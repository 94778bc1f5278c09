package io.dynamo.config.plane;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * TLS of the TCP request plane; all files are PEM. Keys: {@code dynamo.request.tcp.tls.*}.
 *
 * @param certificate chain of the listeners; null listens in the clear
 * @param key of {@code certificate}
 * @param authorities that listeners are checked against; null connects in the clear unless {@code
 *     insecure}
 * @param insecure connects with TLS to whoever answers
 * @param serverName that listeners' certificates must have; null takes the IP address
 * @param handshakeTimeout for a TLS handshake
 * @param clientCertificate chain that what connects presents
 * @param clientKey of {@code clientCertificate}
 * @param clientAuthorities that who connects is checked against; null asks for no certificate
 */
public record TlsSettings(
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path authorities,
    boolean insecure,
    @Nullable String serverName,
    Duration handshakeTimeout,
    @Nullable Path clientCertificate,
    @Nullable Path clientKey,
    @Nullable Path clientAuthorities) {}
