package io.dynamo.discovery.kubernetes;

import io.dynamo.config.plane.KubernetesSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The pod in which this process runs.
 *
 * @param container its container; null where the pod is ready or not as a whole
 */
record PodIdentity(String name, String uid, String namespace, @Nullable String container) {
  private static final String MAIN = "main"; // the container whose object has the pod's name

  /** The directory where a pod mounts its own description: {@value}. */
  static final String POD_INFO = "/etc/podinfo";

  /**
   * Reads the identity from the files that the pod mounts, and missing parts from the settings.
   *
   * @throws IllegalStateException when the name or the uid is nowhere
   */
  static PodIdentity of(KubernetesSettings settings, Path podInfo) {
    return new PodIdentity(
        known("pod-name", read(podInfo.resolve("pod_name")), settings.podName()),
        known("pod-uid", read(podInfo.resolve("pod_uid")), settings.podUid()),
        known("namespace", read(podInfo.resolve("pod_namespace")), settings.namespace()),
        settings.mode() == KubernetesSettings.Mode.CONTAINER
            ? known("container", null, settings.container())
            : null);
  }

  private static String known(String what, @Nullable String file, @Nullable String setting) {
    if (file != null) {
      return file;
    }
    if (setting != null) {
      return setting;
    }
    throw new IllegalStateException(
        "discovery through Kubernetes needs dynamo.discovery.kubernetes.%s: set %s by the downward API of the pod"
            .formatted(
                what,
                what.equals("container")
                    ? "CONTAINER_NAME"
                    : what.startsWith("pod")
                        ? what.replace('-', '_').toUpperCase(Locale.ROOT)
                        : "POD_NAMESPACE"));
  }

  private static @Nullable String read(Path file) {
    try {
      var text = Files.readString(file).strip();
      return text.isEmpty() ? null : text;
    } catch (NoSuchFileException _) {
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  /** Returns the name of this process' object. */
  String objectName() {
    return objectName(name, container);
  }

  /** Returns the name of the object of a container; null stands for the whole pod. */
  static String objectName(String pod, @Nullable String container) {
    return container == null || container.equals(MAIN) ? pod : pod + "-" + container;
  }
}
