package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;
import org.jspecify.annotations.Nullable;

/**
 * The worker to which a session's requests go, as routers inform each other. Of two conflicting
 * bindings the later one counts, by {@code sequence} and then by {@code writer}, both unsigned.
 *
 * @param rank the worker's rank; null is any
 * @param sequence time of the binding, in nanoseconds of the writer's clock; 0 when it was not sent
 * @param writer the router that made the binding
 */
public record SessionBinding(
    String sessionId, InstanceId worker, @Nullable Integer rank, long sequence, InstanceId writer) {
  /** The topic of session bindings. */
  public static final String TOPIC = "session_affinity_events";
}
