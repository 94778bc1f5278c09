package io.dynamo.router;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Which data-parallel ranks an instance has, by the card of the model that it serves; one rank
 * until the card is there. Written by discovery's thread, read by any.
 */
public final class ModelRanks implements Function<Instance, RankRange> {
  private record Server(EndpointId endpoint, InstanceId id) {}

  private final Map<Server, RankRange> ranks = new ConcurrentHashMap<>();

  /**
   * Follows the model cards in {@code discovery} until the result is closed.
   *
   * @param onServed told each endpoint that serves a model, perhaps again; must not block
   */
  public Discovery.Handle follow(Discovery discovery, Consumer<EndpointId> onServed) {
    return discovery.watch(ModelRecord.class, event -> onEvent(event, onServed));
  }

  private void onEvent(DiscoveryEvent<ModelRecord> event, Consumer<EndpointId> onServed) {
    switch (event) {
      case DiscoveryEvent.Added<ModelRecord>(var record) -> {
        if (isOfModel(record)) {
          ranks.put(new Server(record.endpoint(), record.id()), range(record));
          onServed.accept(record.endpoint());
        }
      }
      case DiscoveryEvent.Lost<ModelRecord>(var record) -> {
        if (isOfModel(record)) {
          ranks.remove(new Server(record.endpoint(), record.id()));
        }
      }
    }
  }

  /** Cards of LoRA adapters come and go beside that of their model and tell nothing of ranks. */
  private static boolean isOfModel(ModelRecord record) {
    return record.suffix() == null;
  }

  private static RankRange range(ModelRecord record) {
    var first =
        record.card().runtimeConfig().get("data_parallel_start_rank") instanceof Number rank
            ? Math.max(0, rank.intValue())
            : 0;
    return new RankRange(first, record.card().ranks());
  }

  @Override
  public RankRange apply(Instance instance) {
    return ranks.getOrDefault(new Server(instance.endpoint(), instance.id()), RankRange.ONE);
  }
}
