package io.dynamo.inference;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The hints of the router to the worker, and of the client to the router.
 *
 * @param rank the data-parallel rank that must serve; null lets the worker choose
 * @param passedOn the other hints: pinned workers, adapter, priority, salt
 */
public record RoutingHints(@Nullable Integer rank, PassedOn passedOn) {
  private static final List<String> PINS = List.of("backend_instance_id", "decode_worker_id");

  public static final RoutingHints NONE = new RoutingHints(null);

  public RoutingHints(@Nullable Integer rank) {
    this(rank, PassedOn.NONE);
  }

  /** Whether the client named the worker that must compute the prompt. */
  public boolean isPrefillPinned() {
    return passedOn.get("prefill_worker_id") != null;
  }

  /** Whether the client named the worker that must generate. */
  public boolean isPinned() {
    return PINS.stream().anyMatch(pin -> passedOn.get(pin) != null);
  }
}
