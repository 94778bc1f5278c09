package io.dynamo.inference;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The data by which a prompt's KV blocks are transferred from the worker that computed them to the
 * worker that decodes.
 *
 * @param prefill the answer of the prefill worker; set for the decode worker
 * @param bootstrap the meeting point of both, when both are called at once
 */
public record Handoff(@Nullable PrefillResult prefill, @Nullable Bootstrap bootstrap) {
  public static final Handoff NONE = new Handoff(null, null);

  /**
   * @param params the engine's own parameters, as a JSON value
   * @param promptTokensDetails part of the usage that the prefill worker counted
   */
  public record PrefillResult(@Nullable Object params, @Nullable Object promptTokensDetails) {}

  /**
   * A meeting point of two workers.
   *
   * @param room number of the meeting, unsigned
   */
  public record Bootstrap(String host, int port, long room, @Nullable UUID handoffId) {}
}
