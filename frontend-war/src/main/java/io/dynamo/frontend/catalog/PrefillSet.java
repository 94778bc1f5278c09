package io.dynamo.frontend.catalog;

import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.model.ModelCard;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A set of prefill workers. Immutable.
 *
 * @param card of the first worker
 * @param rendezvous by worker; a worker without one first computes the prompt, and its answer then
 *     tells the decode worker where the KV blocks are
 */
public record PrefillSet(
    WorkerSet workers, ModelCard card, Map<InstanceId, Rendezvous> rendezvous) {
  private static final int MAX_PORT = 0xffff;

  public PrefillSet {
    rendezvous = Map.copyOf(rendezvous);
  }

  /**
   * The address at which a decode worker meets a prefill worker while both compute: {@code
   * disaggregated_endpoint} of the card.
   *
   * @param ranks number of data-parallel ranks of the prefill worker
   */
  public record Rendezvous(String host, int port, int ranks) {
    /** Reads the address in {@code card}; returns null when the card names none. */
    static @Nullable Rendezvous of(ModelCard card) {
      return card.runtimeConfig().get("disaggregated_endpoint") instanceof Map<?, ?> endpoint
              && endpoint.get("bootstrap_host") instanceof String host
              && !host.isEmpty()
              && endpoint.get("bootstrap_port") instanceof Number port
              && port.longValue() > 0
              && port.longValue() <= MAX_PORT
          ? new Rendezvous(host, port.intValue(), card.ranks())
          : null;
    }
  }
}
