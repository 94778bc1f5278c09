package io.dynamo.kv;

import io.dynamo.discovery.InstanceId;

/**
 * The prompt of a request is in the cache: its first token is out.
 *
 * @param requestId of the request plane
 * @param rank where it runs
 * @param teller who says so; a worker names itself
 */
public record PrefillCompleted(String requestId, WorkerRank rank, InstanceId teller) {
  /** The topic of what becomes of placed requests. */
  public static final String TOPIC = "active_sequences_events";
}
