package io.dynamo.inference;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How the prompt's KV blocks get from the worker that computed them to the one that decodes.
 *
 * @param prefill what the prefill worker answered; set for the decode worker
 * @param bootstrap where the two meet, when both are asked at once
 */
public record Handoff(@Nullable PrefillResult prefill, @Nullable Bootstrap bootstrap) {
  public static final Handoff NONE = new Handoff(null, null);

  /**
   * @param params the engine's own, as JSON has them
   * @param promptTokensDetails of the usage that the prefill worker counted
   */
  public record PrefillResult(@Nullable Object params, @Nullable Object promptTokensDetails) {}

  /**
   * A meeting point of two workers.
   *
   * @param room unsigned
   */
  public record Bootstrap(String host, int port, long room, @Nullable UUID handoffId) {}
}
