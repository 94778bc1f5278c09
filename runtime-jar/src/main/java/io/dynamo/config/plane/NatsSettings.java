package io.dynamo.config.plane;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the connection to NATS servers. Keys: {@code dynamo.nats.*}.
 *
 * @param servers one or more members of one cluster, {@code nats://} or {@code tls://}
 * @param startTimeout how long the start waits for a server
 * @param storage of KV events; null when they are not stored
 */
public record NatsSettings(
    List<URI> servers,
    NatsIdentity identity,
    NatsTlsSettings tls,
    Duration startTimeout,
    @Nullable EventStorage storage) {
  public NatsSettings {
    servers = List.copyOf(servers);
  }

  /** Whether connections use TLS. */
  public boolean usesTls() {
    return tls.isSet() || servers.stream().anyMatch(server -> "tls".equals(server.getScheme()));
  }

  /**
   * The storage of KV events by JetStream. Keys: {@code dynamo.nats.jetstream.*}.
   *
   * @param maxAge after which stored events are removed
   * @param maxBytes of the stored events of one endpoint; the oldest are removed
   * @param snapshotThreshold stored events of an endpoint from which a router replaces them by a
   *     snapshot
   * @param reset whether a router that starts removes stored events and snapshot
   */
  public record EventStorage(
      Duration maxAge, long maxBytes, int snapshotThreshold, boolean reset) {}

  /** The credentials that a client presents to the servers. */
  public sealed interface NatsIdentity {
    /** A user with a password. */
    record User(String name, String password) implements NatsIdentity {}

    /** A token that all clients share. */
    record Token(String token) implements NatsIdentity {}

    /** A key pair, by its seed; the server knows the public key. */
    record NKey(String seed) implements NatsIdentity {}

    /** A file with a signed user description (JWT) and the seed of its key. */
    record Credentials(Path file) implements NatsIdentity {}
  }

  /**
   * TLS of the connection; all files are PEM.
   *
   * @param authorities authorities that the servers' certificates are checked against; null takes
   *     those of the JVM
   * @param insecure connects with TLS without checking the server's certificate
   * @param clientCertificate chain that is presented to the servers
   * @param clientKey of {@code clientCertificate}
   */
  public record NatsTlsSettings(
      @Nullable Path authorities,
      boolean insecure,
      @Nullable Path clientCertificate,
      @Nullable Path clientKey) {
    /** Whether one of the settings is set, so that TLS is used with every scheme. */
    boolean isSet() {
      return authorities != null || insecure || clientCertificate != null;
    }
  }
}
