package io.dynamo.config.plane;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The settings of discovery, where instances and models are found. Keys: {@code
 * dynamo.discovery.*}.
 *
 * @param fileRoot the store of the file backend
 * @param fileShared whether other users of the host may own or write that store
 * @param leaseTtl how long a record of the file backend outlives the last sign of life of its owner
 * @param etcd of the etcd backend
 * @param kubernetes of the kubernetes backend
 * @param modelFiles which files the cards of models may name
 */
public record DiscoverySettings(
    Backend backend,
    Path fileRoot,
    boolean fileShared,
    Duration leaseTtl,
    EtcdSettings etcd,
    KubernetesSettings kubernetes,
    ModelFileSettings modelFiles) {
  /** The backends of this version. */
  public enum Backend {
    MEMORY,
    FILE,
    ETCD,
    KUBERNETES
  }
}
