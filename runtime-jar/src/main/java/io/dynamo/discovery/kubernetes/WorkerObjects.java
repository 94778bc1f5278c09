package io.dynamo.discovery.kubernetes;

import io.dynamo.config.plane.KubernetesSettings;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The {@code DynamoWorkerMetadata} objects of one namespace and the readiness of their pods, as the
 * API server keeps them. Informers of the client library follow them: they list again after a gap
 * and keep what they know while the API server is away. Safe for concurrent use.
 */
final class WorkerObjects implements AutoCloseable {
  private static final String FIELD_MANAGER = "dynamo-worker";
  private static final String DISCOVERABLE = "nvidia.com/dynamo-discovery-enabled"; // label
  private static final ResourceDefinitionContext KIND =
      new ResourceDefinitionContext.Builder()
          .withGroup("nvidia.com")
          .withVersion("v1alpha1")
          .withKind("DynamoWorkerMetadata")
          .withPlural("dynamoworkermetadatas")
          .withNamespaced(true)
          .build();
  private static final int RETRIES = 2;
  private static final int RETRY_MILLIS = 100; // doubles

  /**
   * One object.
   *
   * @param version changes with the object
   * @param data null where the object has none
   */
  record WorkerObject(String name, String uid, String version, @Nullable Map<?, ?> data) {}

  private final PodIdentity pod;
  private final KubernetesSettings settings;
  private final KubernetesClient client;
  private final List<SharedIndexInformer<? extends HasMetadata>> informers =
      new ArrayList<>(); // of the constructor
  private final SharedIndexInformer<GenericKubernetesResource> objects;
  private final @Nullable SharedIndexInformer<EndpointSlice> slices; // null in container mode
  private final @Nullable SharedIndexInformer<Pod> pods; // null in pod mode
  private final AtomicReference<Throwable> lastFailure = new AtomicReference<>();

  WorkerObjects(KubernetesSettings settings, PodIdentity pod) {
    this.settings = settings;
    this.pod = pod;
    client = new KubernetesClientBuilder().withConfig(config(settings)).build();
    var namespace = pod.namespace();
    objects =
        known(client.genericKubernetesResources(KIND).inNamespace(namespace).runnableInformer(0));
    if (pod.container() == null) {
      slices =
          known(
              client
                  .discovery()
                  .v1()
                  .endpointSlices()
                  .inNamespace(namespace)
                  .withLabel(DISCOVERABLE, "true")
                  .runnableInformer(0));
      pods = null;
    } else {
      slices = null;
      pods =
          known(
              client
                  .pods()
                  .inNamespace(namespace)
                  .withLabel(DISCOVERABLE, "true")
                  .runnableInformer(0));
    }
  }

  /**
   * Returns how long a call takes at most.
   *
   * @param callTimeout of one attempt
   */
  static Duration longestCall(Duration callTimeout) {
    long pauses = RETRY_MILLIS * ((1L << RETRIES) - 1);
    return callTimeout.multipliedBy(RETRIES + 1L).plusMillis(pauses);
  }

  private static Config config(KubernetesSettings settings) {
    var found = new ConfigBuilder(Config.autoConfigure(null));
    if (settings.apiServer() != null) {
      found.withMasterUrl(settings.apiServer().toString());
    }
    var tokenFile = settings.tokenFile();
    if (tokenFile != null) {
      found.withOauthTokenProvider(() -> token(tokenFile));
    }
    if (settings.authorities() != null) {
      found.withCaCertFile(settings.authorities().toString());
    }
    return found
        .withRequestTimeout(Math.toIntExact(settings.callTimeout().toMillis()))
        .withConnectionTimeout(Math.toIntExact(settings.callTimeout().toMillis()))
        .withOnlyHttpWatches(true) // plain streams of lines, no web sockets
        .withRequestRetryBackoffLimit(RETRIES)
        .withRequestRetryBackoffInterval(RETRY_MILLIS)
        .build();
  }

  private static String token(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the token of Kubernetes", e);
    }
  }

  private <T extends HasMetadata> SharedIndexInformer<T> known(SharedIndexInformer<T> informer) {
    informers.add(informer);
    return informer;
  }

  /**
   * Starts to follow objects and pods, and waits until both have been read.
   *
   * @param onChange called after each change, on a thread of the client; must not block
   * @throws IllegalStateException when the API server does not answer in time
   */
  void follow(Runnable onChange) {
    var read = new ArrayList<CompletableFuture<?>>();
    for (var informer : informers) {
      followOne(informer, onChange, read);
    }
    try {
      CompletableFuture.allOf(read.toArray(CompletableFuture[]::new))
          .get(settings.startTimeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unanswered(e);
    } catch (ExecutionException | TimeoutException e) {
      throw unanswered(e);
    }
  }

  private <T extends HasMetadata> void followOne(
      SharedIndexInformer<T> informer, Runnable onChange, List<CompletableFuture<?>> read) {
    informer.addEventHandler(
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(T added) {
            onChange.run();
          }

          @Override
          public void onUpdate(T before, T now) {
            onChange.run();
          }

          @Override
          public void onDelete(T deleted, boolean isStateUnknown) {
            onChange.run();
          }
        });
    informer.exceptionHandler(
        (_, failure) -> {
          lastFailure.set(failure);
          return true; // try again, with growing pauses
        });
    read.add(informer.start().toCompletableFuture());
  }

  private IllegalStateException unanswered(Exception cause) {
    var failure = lastFailure.get();
    return new IllegalStateException(
        "the Kubernetes API server at %s did not list objects and pods of namespace %s within %s: %s; check dynamo.discovery.kubernetes.*, the service account's rights (get, list, watch on endpointslices, pods and dynamoworkermetadatas) and the custom resource definition"
            .formatted(
                client.getMasterUrl(),
                pod.namespace(),
                settings.startTimeout(),
                failure == null ? "no answer" : failure.getMessage()),
        cause);
  }

  /**
   * Writes the object of this process as a whole.
   *
   * @param data of its {@code spec.data}
   * @throws KubernetesClientException when the API server refuses it or does not answer
   */
  void write(Map<String, ?> data) {
    var object = new GenericKubernetesResource();
    object.setApiVersion(KIND.getGroup() + "/" + KIND.getVersion());
    object.setKind(KIND.getKind());
    object.setMetadata(
        new ObjectMetaBuilder()
            .withName(pod.objectName())
            .withNamespace(pod.namespace())
            .addNewOwnerReference()
            .withApiVersion("v1")
            .withKind("Pod")
            .withName(pod.name())
            .withUid(pod.uid())
            .withController(pod.objectName().equals(pod.name()))
            .withBlockOwnerDeletion(false)
            .endOwnerReference()
            .build());
    object.setAdditionalProperty("spec", Map.of("data", data));
    client
        .genericKubernetesResources(KIND)
        .inNamespace(pod.namespace())
        .resource(object)
        .fieldManager(FIELD_MANAGER)
        .forceConflicts()
        .serverSideApply();
  }

  /** Deletes the object of this process; does nothing when there is none. */
  void delete() {
    client
        .genericKubernetesResources(KIND)
        .inNamespace(pod.namespace())
        .withName(pod.objectName())
        .delete();
  }

  /** Returns all objects of the namespace. */
  List<WorkerObject> objects() {
    var found = new ArrayList<WorkerObject>();
    for (var object : objects.getStore().list()) {
      var metadata = object.getMetadata();
      found.add(
          new WorkerObject(
              metadata.getName(),
              String.valueOf(metadata.getUid()),
              String.valueOf(metadata.getResourceVersion()),
              object.getAdditionalProperties().get("spec") instanceof Map<?, ?> spec
                      && spec.get("data") instanceof Map<?, ?> data
                  ? data
                  : null));
    }
    return found;
  }

  /** Returns the names of the objects whose pod or container is ready. */
  Set<String> ready() {
    var ready = new HashSet<String>();
    if (slices != null) {
      slices.getStore().list().forEach(slice -> addReady(slice, ready));
    }
    if (pods != null) {
      pods.getStore().list().forEach(each -> addReady(each, ready));
    }
    return ready;
  }

  private static void addReady(EndpointSlice slice, Set<String> ready) {
    if (slice.getEndpoints() == null) {
      return;
    }
    for (var endpoint : slice.getEndpoints()) {
      var target = endpoint.getTargetRef();
      var conditions = endpoint.getConditions();
      if (target != null
          && target.getName() != null
          && conditions != null
          && Boolean.TRUE.equals(conditions.getReady())) {
        ready.add(target.getName());
      }
    }
  }

  private static void addReady(Pod pod, Set<String> ready) {
    if (pod.getStatus() == null || pod.getStatus().getContainerStatuses() == null) {
      return;
    }
    for (var container : pod.getStatus().getContainerStatuses()) {
      if (Boolean.TRUE.equals(container.getReady())) {
        ready.add(PodIdentity.objectName(pod.getMetadata().getName(), container.getName()));
      }
    }
  }

  /** Whether changes are being followed now. */
  boolean isFollowing() {
    return informers.stream().allMatch(SharedIndexInformer::isWatching);
  }

  @Override
  public void close() {
    informers.forEach(SharedIndexInformer::stop);
    client.close();
  }
}
