package io.dynamo.runtime.status;

import io.dynamo.runtime.health.SystemHealth;
import java.net.InetSocketAddress;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The status of a process; roles register here. Safe for concurrent use. */
public final class SystemStatus {
  private final SystemHealth health;
  private final EngineRoutes engine = new EngineRoutes();
  private final EngineMetrics engineMetrics = new EngineMetrics();
  private final HostedFiles files = new HostedFiles();
  private volatile @Nullable InetSocketAddress address;
  private volatile @Nullable Supplier<byte[]> metadata;

  public SystemStatus(SystemHealth health) {
    this.health = health;
  }

  /** Returns the health of the process and its endpoints. */
  public SystemHealth health() {
    return health;
  }

  /** Returns the routes below {@code /engine}. */
  public EngineRoutes engine() {
    return engine;
  }

  /** Returns the metrics of engines in other processes. */
  public EngineMetrics engineMetrics() {
    return engineMetrics;
  }

  /** Returns the files below {@code /v1/metadata}. */
  public HostedFiles files() {
    return files;
  }

  /** Returns the address of the status server; null while there is none. */
  public @Nullable InetSocketAddress address() {
    return address;
  }

  /**
   * Publishes what this process has registered, at {@code /metadata}.
   *
   * @param json writes a JSON object in UTF-8; called on virtual threads
   */
  public void publishMetadata(Supplier<byte[]> json) {
    metadata = json;
  }

  /** Returns what {@link #publishMetadata} received; null before. */
  @Nullable Supplier<byte[]> metadata() {
    return metadata;
  }

  void bound(@Nullable InetSocketAddress to) {
    address = to;
  }
}
