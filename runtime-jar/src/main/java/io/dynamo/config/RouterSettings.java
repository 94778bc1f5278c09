package io.dynamo.config;

/**
 * How requests find their worker. Keys: {@code dynamo.router.*}.
 *
 * @param overlapScoreCredit blocks of prefill that one cached block is worth
 * @param temperature 0 takes the cheapest rank; above, ranks are drawn by cost
 * @param replicaSync whether routers tell each other what they have placed
 */
public record RouterSettings(
    Mode mode, double overlapScoreCredit, double temperature, boolean replicaSync) {
  /** The modes of this version. */
  public enum Mode {
    ROUND_ROBIN,
    KV
  }
}
