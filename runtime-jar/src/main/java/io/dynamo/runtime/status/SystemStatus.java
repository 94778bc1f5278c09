package io.dynamo.runtime.status;

import io.dynamo.runtime.health.SystemHealth;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** The status of a process; roles register here. Safe for concurrent use. */
public final class SystemStatus {
  private final SystemHealth health;
  private final EngineRoutes engine = new EngineRoutes();
  private final HostedFiles files = new HostedFiles();
  private volatile @Nullable InetSocketAddress address;

  public SystemStatus(SystemHealth health) {
    this.health = health;
  }

  /** Whether the process and its endpoints are ready. */
  public SystemHealth health() {
    return health;
  }

  /** Below {@code /engine}. */
  public EngineRoutes engine() {
    return engine;
  }

  /** Below {@code /v1/metadata}. */
  public HostedFiles files() {
    return files;
  }

  /** Where the status server listens; null while there is none. */
  public @Nullable InetSocketAddress address() {
    return address;
  }

  void bound(@Nullable InetSocketAddress to) {
    address = to;
  }
}
