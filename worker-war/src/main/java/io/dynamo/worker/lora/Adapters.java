package io.dynamo.worker.lora;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.model.LoraAdapter;
import io.dynamo.model.ModelCard;
import io.dynamo.model.Slug;
import io.dynamo.runtime.status.HostedFiles;
import io.dynamo.runtime.status.Registered;
import io.dynamo.worker.engine.AdapterHost;
import io.dynamo.worker.engine.AdapterReport;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The adapters of one model's worker. An adapter is loaded into the engine before it is registered
 * in discovery, and unregistered before it is unloaded. Safe for concurrent use; changes block on
 * files and discovery, one at a time.
 */
public final class Adapters implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Adapters.class.getName());
  private static final int MAX_NAME = 256;
  private static final String LORA_NAME = "lora_name";

  private record Loaded(int id, Discovery.Handle card, Registered files) {
    void withdraw() {
      card.close();
      files.close();
    }
  }

  private final EndpointId endpoint;
  private final Discovery discovery;
  private final HostedFiles files;
  private final AdapterHost engine;
  private final int max;
  private final Map<String, Loaded> loaded = new ConcurrentHashMap<>(); // changed under this
  private volatile @Nullable ModelCard base;
  private boolean closed; // guarded by this

  /**
   * @param max the maximum number of adapters at once; 0 disables adapters
   */
  public Adapters(
      EndpointId endpoint, Discovery discovery, HostedFiles files, AdapterHost engine, int max) {
    this.endpoint = endpoint;
    this.discovery = discovery;
    this.files = files;
    this.engine = engine;
    this.max = max;
  }

  /** Sets the model card that adapters' cards are derived from, and returns it. */
  public ModelCard on(ModelCard model) {
    base = model;
    return model;
  }

  /** Whether this worker accepts adapters at all. */
  public boolean isEnabled() {
    return max > 0;
  }

  /**
   * Loads an adapter, unless it is loaded already.
   *
   * @param uri the address of its directory: {@code file://…}
   * @return whether it is newly loaded
   * @throws IllegalArgumentException when the name or the adapter cannot be used here
   * @throws IllegalStateException when the maximum number of adapters is loaded, when discovery
   *     refuses, or when the worker does not serve
   */
  public synchronized boolean load(String name, String uri) {
    if (loaded.containsKey(name)) {
      return false;
    }
    var model = requireUsable(name);
    engine.loadAdapter(name, AdapterSource.directory(uri));
    try {
      register(name, model);
    } catch (RuntimeException failure) {
      engine.unloadAdapter(name);
      throw failure;
    }
    return true;
  }

  /**
   * Registers the adapters that the engine's own server has already, when this worker accepts
   * adapters at all. One that cannot be is logged and left out.
   */
  public synchronized void adopt(AdapterReport server) {
    for (var adapter : present(server).entrySet()) {
      var name = adapter.getKey();
      if (!loaded.containsKey(name)) {
        try {
          var model = requireUsable(name);
          engine.loadAdapter(name, adapter.getValue());
          register(name, model);
        } catch (RuntimeException failure) {
          LOG.log(
              Level.WARNING,
              "the adapter {0} of the engine''s server is not served: {1}",
              name,
              failure.getMessage());
        }
      }
    }
  }

  private Map<String, Path> present(AdapterReport server) {
    if (!isEnabled()) {
      return Map.of();
    }
    try {
      return server.serverAdapters();
    } catch (RuntimeException failure) {
      LOG.log(
          Level.WARNING,
          "{0} serves no adapters that its engine has already: {1}",
          endpoint,
          failure.getMessage());
      return Map.of();
    }
  }

  private void register(String name, ModelCard model) { // caller holds this
    Registered hosted = null;
    try {
      var card = model.of(LoraAdapter.of(name, max));
      var suffix = card.slug();
      var made = files.add(endpoint, card, suffix);
      hosted = made.files();
      var record = new ModelRecord(endpoint, discovery.instanceId(), made.card(), suffix);
      loaded.put(name, new Loaded(LoraAdapter.idOf(name), discovery.register(record), hosted));
    } catch (RuntimeException failure) {
      if (hosted != null) {
        hosted.close();
      }
      throw failure;
    }
    LOG.log(Level.INFO, "{0} has the adapter {1}", endpoint, name);
  }

  private ModelCard requireUsable(String name) { // caller holds this
    var model = base;
    if (closed || model == null) {
      throw new IllegalStateException("the worker does not serve");
    }
    if (name.isBlank() || name.length() > MAX_NAME || Slug.of(name).isEmpty()) {
      throw new IllegalArgumentException(
          "'lora_name' needs a letter or digit and at most %d characters".formatted(MAX_NAME));
    }
    if (name.equals(model.displayName())) {
      throw new IllegalArgumentException("'" + name + "' is the name of the model itself");
    }
    for (var other : loaded.keySet()) {
      if (Slug.of(other).equals(Slug.of(name))) {
        throw new IllegalArgumentException(
            "'%s' and the loaded '%s' are one name in discovery; choose another"
                .formatted(name, other));
      }
    }
    if (loaded.size() >= max) {
      throw new IllegalStateException(
          "LoRA capacity exceeded: at most %d adapter(s) may be loaded; unload one, or raise dynamo.worker.max-loras"
              .formatted(max));
    }
    return model;
  }

  /**
   * Unloads an adapter; running generations finish with it, or end so that they migrate.
   *
   * @throws IllegalArgumentException when it is not loaded
   */
  public synchronized void unload(String name) {
    var gone = loaded.remove(name);
    if (gone == null) {
      throw new IllegalArgumentException(
          "LoRA adapter '%s' not found. Available LoRAs: %s".formatted(name, loaded.keySet()));
    }
    try {
      gone.withdraw();
    } finally {
      engine.unloadAdapter(name);
    }
    LOG.log(Level.INFO, "{0} has the adapter {1} no more", endpoint, name);
  }

  /** Returns the adapters' ids by name. */
  public Map<String, Integer> ids() {
    var ids = new LinkedHashMap<String, Integer>();
    loaded.forEach((name, adapter) -> ids.put(name, adapter.id));
    return ids;
  }

  public boolean has(String name) {
    return loaded.containsKey(name);
  }

  /**
   * Returns the request with the adapter that the engine is to use: the one that its hints name, or
   * its model when that is an adapter. A request that names no model is for the model that is
   * served.
   *
   * @throws WorkerBusyException when its model or adapter is not served here, so that its sender
   *     tries another worker
   */
  public GenerateRequest admit(GenerateRequest request) {
    var asked = request.model();
    var model = base;
    if (!asked.isEmpty()
        && model != null
        && !asked.equals(model.displayName())
        && !loaded.containsKey(asked)) {
      throw new WorkerBusyException(
          "model '%s' is not served here: this worker has '%s' with the adapters %s; try another"
              .formatted(asked, model.displayName(), loaded.keySet()));
    }
    var hints = request.routing().passedOn();
    if (hints.get(LORA_NAME) instanceof String name && !name.isEmpty()) {
      if (!loaded.containsKey(name)) {
        throw new WorkerBusyException(
            "adapter '%s' is not loaded here; try another worker, or load it".formatted(name));
      }
      return request;
    }
    if (loaded.containsKey(asked)) {
      var fields = new LinkedHashMap<>(hints.fields());
      fields.put(LORA_NAME, asked);
      return request.routedTo(new RoutingHints(request.routing().rank(), PassedOn.of(fields)));
    }
    return request;
  }

  /** Removes all adapter cards from discovery; nothing can be loaded afterwards. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    loaded.values().forEach(Loaded::withdraw);
    loaded.clear();
  }
}
