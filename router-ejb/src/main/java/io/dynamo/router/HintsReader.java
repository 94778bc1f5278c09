package io.dynamo.router;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request's hints by Dynamo's names: {@code routing} ({@code backend_instance_id}, {@code
 * decode_worker_id}, {@code prefill_worker_id}, {@code dp_rank}, {@code prefill_dp_rank}, {@code
 * allowed_worker_ids}, {@code routing_constraints}, {@code priority_jump}, {@code strict_priority},
 * {@code priority}, {@code lora_name}, {@code cache_salt}, {@code expected_output_tokens}), {@code
 * router_config_override} and {@code agent_context.session_id}.
 */
public final class HintsReader {
  private static final long UNSET_RANK = 0xffff_ffffL; // Dynamo's headers encode "no rank" so

  private final Map<String, Object> routing;
  private final Map<?, ?> override;

  private HintsReader(Map<String, Object> routing, Map<?, ?> override) {
    this.routing = routing;
    this.override = override;
  }

  /**
   * Reads the hints of {@code request}.
   *
   * @param session the session id from a header; {@code agent_context} takes precedence; null is
   *     none
   * @throws InvalidRequestException when a hint is malformed
   */
  public static RouteHints read(
      GenerateRequest request, RoutePhase phase, @Nullable String session) {
    var hints = request.routing();
    var override = request.passedOn().get("router_config_override");
    var context = request.passedOn().get("agent_context");
    if (hints.passedOn().isEmpty()
        && hints.rank() == null
        && override == null
        && context == null
        && session == null) {
      return RouteHints.NONE;
    }
    var reader =
        new HintsReader(
            hints.passedOn().fields(), override instanceof Map<?, ?> map ? map : Map.of());
    return reader.hints(phase, hints.rank(), session(context, session));
  }

  private RouteHints hints(RoutePhase phase, @Nullable Integer dpRank, @Nullable String session) {
    var worker = worker(phase == RoutePhase.PREFILL ? "prefill_worker_id" : "decode_worker_id");
    if (worker == null) {
      worker = worker("backend_instance_id");
    }
    var rank = phase == RoutePhase.PREFILL ? rank("prefill_dp_rank") : null;
    if (rank == null && (phase == RoutePhase.DECODE || worker != null)) {
      rank = dpRank != null ? rank(dpRank, "dp_rank") : rank("dp_rank");
    }
    if (rank != null && worker == null) {
      throw new InvalidRequestException(
          "dp_rank " + rank + " without a worker; name the worker that has it, or neither");
    }
    var constraints = routing.get("routing_constraints") instanceof Map<?, ?> map ? map : Map.of();
    var expected = number("expected_output_tokens");
    var strict = number("strict_priority");
    return new RouteHints(
        worker,
        rank,
        allowed(),
        names(constraints.get("required_taints")),
        weights(constraints.get("preferred_taints")),
        text("lora_name"),
        text("cache_salt"),
        expected == null ? null : Math.max(0, saturated(expected)),
        priority(),
        strict == null ? 0 : saturated(strict),
        null,
        session,
        override());
  }

  /** Returns the nearest int, where {@link Number#intValue()} may wrap around. */
  private static int saturated(Number value) {
    return (int) value.doubleValue();
  }

  private double priority() {
    var jump = number("priority_jump");
    if (jump == null) {
      jump = number("priority");
    }
    double seconds = jump == null ? 0 : jump.doubleValue();
    return Double.isFinite(seconds) ? Math.max(0, seconds) : 0;
  }

  private RouteOverride override() {
    checkAtMost("overlap_score_credit", Double.MAX_VALUE);
    checkAtMost("prefill_load_scale", Double.MAX_VALUE);
    checkAtMost("router_temperature", Double.MAX_VALUE);
    checkAtMost("shared_cache_multiplier", 1);
    return override.isEmpty()
        ? RouteOverride.NONE
        : new RouteOverride(flag("assume_kv_reuse"), flag("track_prefill_tokens"));
  }

  private void checkAtMost(String field, double most) {
    var value = override.get(field);
    if (value != null
        && !(value instanceof Number it && it.doubleValue() >= 0 && it.doubleValue() <= most)) {
      throw new InvalidRequestException(
          "router_config_override.%s is not a number from 0 %s"
              .formatted(field, most == Double.MAX_VALUE ? "up" : "to " + most));
    }
  }

  private @Nullable Boolean flag(String field) {
    return switch (override.get(field)) {
      case null -> null;
      case Boolean value -> value;
      default ->
          throw new InvalidRequestException(
              "router_config_override." + field + " is neither true nor false");
    };
  }

  private @Nullable InstanceId worker(String field) {
    var value = number(field);
    return value == null ? null : new InstanceId(unsigned(value));
  }

  /** Returns the id as 64 bits; ids from 2^63 up are parsed as big integers. */
  private static long unsigned(Number value) {
    return value instanceof BigInteger big ? big.longValue() : value.longValue();
  }

  private @Nullable Integer rank(String field) {
    return rank(number(field), field);
  }

  private static @Nullable Integer rank(@Nullable Number value, String field) {
    if (value == null || value.longValue() == UNSET_RANK || value.longValue() == -1) {
      return null;
    }
    if (value.longValue() < 0 || value.longValue() > Integer.MAX_VALUE) {
      throw new InvalidRequestException(field + " " + value + " is no data-parallel rank");
    }
    return value.intValue();
  }

  private @Nullable Set<InstanceId> allowed() {
    if (!(routing.get("allowed_worker_ids") instanceof Iterable<?> ids)) {
      return null;
    }
    var allowed = new HashSet<InstanceId>();
    for (var id : ids) {
      if (!(id instanceof Number number)) {
        throw new InvalidRequestException("allowed_worker_ids holds something that is no id");
      }
      allowed.add(new InstanceId(unsigned(number)));
    }
    return allowed;
  }

  private @Nullable Number number(String field) {
    return switch (routing.get(field)) {
      case null -> null;
      case Number value -> value;
      default -> throw new InvalidRequestException("routing." + field + " is not a number");
    };
  }

  private @Nullable String text(String field) {
    return routing.get(field) instanceof String value && !value.isEmpty() ? value : null;
  }

  private static Set<String> names(@Nullable Object value) {
    var names = new HashSet<String>();
    if (value instanceof Iterable<?> all) {
      all.forEach(name -> names.add(String.valueOf(name)));
    }
    return names;
  }

  private static Map<String, Double> weights(@Nullable Object value) {
    var weights = new HashMap<String, Double>();
    if (value instanceof Map<?, ?> all) {
      for (var entry : all.entrySet()) {
        if (!(entry.getValue() instanceof Number weight)
            || !Double.isFinite(weight.doubleValue())) {
          throw new InvalidRequestException("preferred_taints holds a weight that is no number");
        }
        weights.put(String.valueOf(entry.getKey()), weight.doubleValue());
      }
    }
    return weights;
  }

  private static @Nullable String session(@Nullable Object context, @Nullable String header) {
    var id =
        context instanceof Map<?, ?> map && map.get("session_id") instanceof String text
            ? text
            : header;
    if (id == null || id.isEmpty()) {
      return null;
    }
    int bytes = id.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > RouteHints.MAX_SESSION_ID_BYTES) {
      throw new InvalidRequestException(
          "a session id of %d bytes; at most %d".formatted(bytes, RouteHints.MAX_SESSION_ID_BYTES));
    }
    return id;
  }
}
