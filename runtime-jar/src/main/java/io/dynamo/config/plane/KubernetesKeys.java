package io.dynamo.config.plane;

import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.HTTP_URL;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.TEXT;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The settings of discovery through Kubernetes, in the order of the documentation. */
final class KubernetesKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<KubernetesSettings.Mode> MODE =
      KEYS.key(
          "dynamo.discovery.kubernetes.mode",
          oneOf(KubernetesSettings.Mode.class),
          "pod",
          none(),
          "whether a process is found while its pod is ready (EndpointSlices say so) or while its"
              + " container is (pods say so)",
          plain("DYN_KUBE_DISCOVERY_MODE"));
  static final SettingKey<String> POD_NAME =
      KEYS.key(
          "dynamo.discovery.kubernetes.pod-name",
          TEXT,
          "",
          none(),
          "the pod of this process; `/etc/podinfo/pod_name` goes before it",
          plain("POD_NAME"));
  static final SettingKey<String> POD_UID =
      KEYS.key(
          "dynamo.discovery.kubernetes.pod-uid",
          TEXT,
          "",
          none(),
          "its uid; `/etc/podinfo/pod_uid` goes before it",
          plain("POD_UID"));
  static final SettingKey<String> NAMESPACE =
      KEYS.key(
          "dynamo.discovery.kubernetes.namespace",
          TEXT,
          "default",
          none(),
          "its namespace, in which others are looked for, too; `/etc/podinfo/pod_namespace` goes"
              + " before it",
          plain("POD_NAMESPACE"));
  static final SettingKey<String> CONTAINER =
      KEYS.key(
          "dynamo.discovery.kubernetes.container",
          TEXT,
          "",
          none(),
          "the container of this process; only mode `container` needs it",
          plain("CONTAINER_NAME"));
  static final SettingKey<URI> API_SERVER =
      KEYS.key(
          "dynamo.discovery.kubernetes.api-server",
          HTTP_URL,
          "",
          none(),
          "the API server; absent: that of the pod's service account, or of the user's kubeconfig");
  static final SettingKey<Path> TOKEN_FILE =
      KEYS.key(
          "dynamo.discovery.kubernetes.token-file",
          PATH,
          "",
          none(),
          "the bearer token, read for each call; absent: as for the API server");
  static final SettingKey<Path> AUTHORITIES =
      KEYS.key(
          "dynamo.discovery.kubernetes.authorities",
          PATH,
          "",
          none(),
          "certificates that the API server's is checked against, PEM; absent: as for the API"
              + " server");
  static final SettingKey<Duration> CALL_TIMEOUT =
      KEYS.key(
          "dynamo.discovery.kubernetes.call-timeout",
          DURATION,
          "10s",
          WAIT,
          "how long one call may take");
  static final SettingKey<Duration> START_TIMEOUT =
      KEYS.key(
          "dynamo.discovery.kubernetes.start-timeout",
          DURATION,
          "60s",
          WAIT,
          "how long the start of a server waits for the API server");

  private KubernetesKeys() {}

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  static KubernetesSettings read(KeyReader reader) {
    return new KubernetesSettings(
        reader.get(MODE),
        reader.optional(POD_NAME),
        reader.optional(POD_UID),
        reader.get(NAMESPACE),
        reader.optional(CONTAINER),
        reader.optional(API_SERVER),
        reader.optional(TOKEN_FILE),
        reader.optional(AUTHORITIES),
        reader.get(CALL_TIMEOUT),
        reader.get(START_TIMEOUT));
  }
}
