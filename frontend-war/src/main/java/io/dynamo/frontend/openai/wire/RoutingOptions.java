package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.admission.Urgency;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where and how soon a client wants its request served: from {@code nvext} or from headers, which
 * win field by field. Null means no preference.
 *
 * @param backend a worker for the whole request, unsigned
 * @param prefill a worker for the prompt, unsigned
 * @param decode a worker for the answer, unsigned
 * @param rank a data-parallel rank, unsigned 32 bits
 * @param prefillRank the same for the prompt
 * @param priority higher is sooner
 * @param strictPriority unsigned 32 bits
 * @param outputTokens the length of the answer that the client expects
 * @param latencySensitivity seconds to jump ahead when there is no priority
 * @param cacheSalt keeps KV blocks apart from those of other salts; never empty
 * @param constraints taints of workers, as JSON has them; empty is none
 */
public record RoutingOptions(
    @Nullable BigInteger backend,
    @Nullable BigInteger prefill,
    @Nullable BigInteger decode,
    @Nullable Long rank,
    @Nullable Long prefillRank,
    @Nullable Integer priority,
    @Nullable Long strictPriority,
    @Nullable Long outputTokens,
    @Nullable Double latencySensitivity,
    @Nullable String cacheSalt,
    Map<String, Object> constraints) {
  private static final long UNSET_RANK = 0xFFFF_FFFFL;

  public static final RoutingOptions NONE =
      new RoutingOptions(null, null, null, null, null, null, null, null, null, null, Map.of());

  public RoutingOptions {
    rank = rank != null && rank == UNSET_RANK ? (Long) null : rank;
    prefillRank = prefillRank != null && prefillRank == UNSET_RANK ? (Long) null : prefillRank;
    cacheSalt = cacheSalt != null && cacheSalt.isEmpty() ? null : cacheSalt;
  }

  /** Options with a cache salt only. */
  static RoutingOptions ofSalt(String salt) {
    return new RoutingOptions(null, null, null, null, null, null, null, null, null, salt, Map.of());
  }

  /** Returns {@code stronger} with these options where it has none. */
  public RoutingOptions under(RoutingOptions stronger) {
    return new RoutingOptions(
        first(stronger.backend, backend),
        first(stronger.prefill, prefill),
        first(stronger.decode, decode),
        first(stronger.rank, rank),
        first(stronger.prefillRank, prefillRank),
        first(stronger.priority, priority),
        first(stronger.strictPriority, strictPriority),
        first(stronger.outputTokens, outputTokens),
        first(stronger.latencySensitivity, latencySensitivity),
        first(stronger.cacheSalt, cacheSalt),
        stronger.constraints.isEmpty() ? constraints : stronger.constraints);
  }

  /** The id of the worker that shall make the answer, unsigned. */
  public @Nullable BigInteger worker() {
    return first(decode, backend);
  }

  /** The priority of the request in the queue. */
  public Urgency urgency() {
    return Urgency.of(
        strictPriority, priority != null ? (Double) priority.doubleValue() : latencySensitivity);
  }

  /** The options as routing hints for the worker, without the rank. */
  public Map<String, Object> hints() {
    var hints = new LinkedHashMap<String, Object>();
    put(hints, "backend_instance_id", backend);
    put(hints, "prefill_worker_id", prefill);
    put(hints, "decode_worker_id", decode);
    put(hints, "prefill_dp_rank", prefillRank);
    put(hints, "expected_output_tokens", outputTokens);
    put(hints, "cache_salt", cacheSalt);
    if (priority != null) {
      hints.put("priority_jump", (double) Math.max(0, priority));
    } else {
      put(hints, "priority_jump", latencySensitivity);
    }
    put(hints, "strict_priority", strictPriority);
    put(hints, "priority", priority);
    if (!constraints.isEmpty()) {
      hints.put("routing_constraints", constraints);
    }
    return hints;
  }

  private static void put(Map<String, Object> to, String name, @Nullable Object value) {
    if (value != null) {
      to.put(name, value);
    }
  }

  private static <T> @Nullable T first(@Nullable T one, @Nullable T other) {
    return one == null ? other : one;
  }
}
