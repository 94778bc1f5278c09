package io.dynamo.arch.planted.kv;

import io.fabric8.kubernetes.client.KubernetesClient;

/** The client of Kubernetes, which only one package of discovery may use. */
public record AsksKubernetes(KubernetesClient client) {}
