package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;
import org.jspecify.annotations.Nullable;

/**
 * Where a session's requests go, as routers tell each other. Of two that disagree the later one
 * counts, by {@code sequence} and then by {@code writer}, both unsigned.
 *
 * @param rank of the worker; null is any
 * @param sequence when it was bound: nanoseconds of the writer's clock; 0 when it was not sent
 * @param writer the router that bound it
 */
public record SessionBinding(
    String sessionId, InstanceId worker, @Nullable Integer rank, long sequence, InstanceId writer) {
  /** The topic of what routers tell of sessions. */
  public static final String TOPIC = "session_affinity_events";
}
