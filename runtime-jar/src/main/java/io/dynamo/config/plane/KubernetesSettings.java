package io.dynamo.config.plane;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of discovery through Kubernetes. Keys: {@code dynamo.discovery.kubernetes.*}.
 *
 * @param mode what is ready or not: the pod or each container
 * @param podName null when the pod mounts it as a file
 * @param podUid null when the pod mounts it as a file
 * @param namespace where the objects are, if the pod mounts no file that says it
 * @param container the container of this process; for mode {@link Mode#CONTAINER}
 * @param apiServer null takes the one of the service account, or of the user's kubeconfig
 * @param tokenFile the bearer token, read for each call; null takes that of the service account or
 *     the kubeconfig
 * @param authorities the file of certificates that the API server's is checked against; null as for
 *     the token
 * @param callTimeout for one call
 * @param startTimeout how long the start of the server waits for the API server
 */
public record KubernetesSettings(
    Mode mode,
    @Nullable String podName,
    @Nullable String podUid,
    String namespace,
    @Nullable String container,
    @Nullable URI apiServer,
    @Nullable Path tokenFile,
    @Nullable Path authorities,
    Duration callTimeout,
    Duration startTimeout) {
  /** The unit whose readiness counts. */
  public enum Mode {
    POD,
    CONTAINER
  }
}
