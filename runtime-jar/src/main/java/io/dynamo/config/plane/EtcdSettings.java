package io.dynamo.config.plane;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings of discovery through etcd. Keys: {@code dynamo.discovery.etcd.*}.
 *
 * @param endpoints members of the cluster, all over TLS or none
 * @param leaseTtl how long etcd keeps the records of a process that renews its lease no more
 * @param user null for no authentication
 * @param authorities authorities that etcd's certificate is checked against; null takes the JVM's
 * @param certificate chain that this process presents; null presents none
 * @param key of {@code certificate}
 * @param callTimeout for one call
 * @param pingInterval silence after which a connection is probed
 * @param pingTimeout silence after the probe that ends the connection
 * @param startTimeout how long the start of the server waits for etcd
 */
public record EtcdSettings(
    List<URI> endpoints,
    Duration leaseTtl,
    @Nullable User user,
    @Nullable PemSource authorities,
    @Nullable PemSource certificate,
    @Nullable PemSource key,
    Duration callTimeout,
    Duration pingInterval,
    Duration pingTimeout,
    Duration startTimeout) {
  public EtcdSettings {
    endpoints = List.copyOf(endpoints);
  }

  /** Name and password of a user of etcd. */
  public record User(String name, String password) {
    /** Returns the name alone. */
    @Override
    public String toString() {
      return name;
    }
  }

  /** Whether connections use TLS. */
  public boolean isTls() {
    return isTls(endpoints.getFirst());
  }

  static boolean isTls(URI endpoint) {
    return "https".equals(endpoint.getScheme());
  }
}
