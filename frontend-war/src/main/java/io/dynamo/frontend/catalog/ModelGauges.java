package io.dynamo.frontend.catalog;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.ModelCard;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * Publishes the figures of each model's newest card, and whether the model is ready. A model that
 * is gone stays listed as not ready. Safe for concurrent use.
 */
public final class ModelGauges implements AutoCloseable {
  private final ModelCatalog catalog;
  private final Predicate<EndpointId> serves;
  private final Metrics metrics;
  private final Map<String, ModelCard> cards = new ConcurrentHashMap<>(); // by name
  private final Discovery.Handle watch;

  /**
   * @param serves whether models of an endpoint are shown
   */
  public ModelGauges(
      Discovery discovery, ModelCatalog catalog, Predicate<EndpointId> serves, Metrics metrics) {
    this.catalog = catalog;
    this.serves = serves;
    this.metrics = metrics;
    this.watch = discovery.watch(ModelRecord.class, this::onEvent);
  }

  private void onEvent(DiscoveryEvent<ModelRecord> event) {
    switch (event) {
      case DiscoveryEvent.Added<ModelRecord> added -> {
        var card = added.record().card();
        if (serves.test(added.record().endpoint()) && cards.put(card.displayName(), card) == null) {
          publish(card.displayName());
        }
      }
      case DiscoveryEvent.Lost<ModelRecord> _ -> {} // known to the catalog
    }
  }

  private void publish(String name) {
    metrics.gauge(
        FrontendMetrics.MODEL_READY,
        () -> catalog.find(name).isPresent() ? 1 : 0,
        new Label("model", name));
    of(name, FrontendMetrics.MODEL_KV_BLOCKS, card -> limit(card, "total_kv_blocks"));
    of(name, FrontendMetrics.MODEL_MAX_SEQS, card -> limit(card, "max_num_seqs"));
    of(
        name,
        FrontendMetrics.MODEL_MAX_BATCHED_TOKENS,
        card -> limit(card, "max_num_batched_tokens"));
    of(name, FrontendMetrics.MODEL_CONTEXT_LENGTH, ModelCard::contextLength);
    of(name, FrontendMetrics.MODEL_BLOCK_SIZE, ModelCard::blockTokens);
    of(name, FrontendMetrics.MODEL_MIGRATION_LIMIT, ModelCard::migrationLimit);
  }

  private void of(String name, MetricName metric, ToDoubleFunction<ModelCard> value) {
    metrics.gauge(
        metric,
        () -> {
          var card = cards.get(name);
          return card == null ? 0 : value.applyAsDouble(card);
        },
        new Label("model", name));
  }

  private static double limit(ModelCard card, String key) {
    return card.runtimeConfig().get(key) instanceof Number number ? number.doubleValue() : 0;
  }

  /** Stops following. Idempotent. */
  @Override
  public void close() {
    watch.close();
  }
}
