package io.dynamo.config.plane;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * TLS of the TCP request plane; all files are PEM. Keys: {@code dynamo.request.tcp.tls.*}.
 *
 * @param certificate chain of the listeners; null listens without TLS
 * @param key of {@code certificate}
 * @param authorities authorities that listeners' certificates are checked against; null connects
 *     without TLS unless {@code insecure}
 * @param insecure connects with TLS without checking the peer's certificate
 * @param serverName name that listeners' certificates must have; null takes the IP address
 * @param handshakeTimeout for a TLS handshake
 * @param clientCertificate chain that outgoing connections present
 * @param clientKey of {@code clientCertificate}
 * @param clientAuthorities authorities that certificates of connecting peers are checked against;
 *     null requests no certificate
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
