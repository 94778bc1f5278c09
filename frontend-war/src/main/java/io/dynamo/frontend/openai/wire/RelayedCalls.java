package io.dynamo.frontend.openai.wire;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The tool calls of a message that come in fragments: the first id and name of a call stay, its
 * arguments are joined. Calls without both are left out, as in Dynamo. For one thread.
 */
final class RelayedCalls {
  private static final class GrowingCall {
    private @Nullable String id;
    private @Nullable String name;
    private final StringBuilder arguments = new StringBuilder();

    boolean isKnown() {
      return id != null && name != null;
    }
  }

  private final Map<Long, GrowingCall> calls = new TreeMap<>();

  /** Adds the fragments of a chunk; anything else is ignored. */
  void add(@Nullable Object fragments) {
    if (!(fragments instanceof List<?> list)) {
      return;
    }
    for (var each : list) {
      if (each instanceof Map<?, ?> fragment) {
        long index = fragment.get("index") instanceof Number number ? number.longValue() : 0;
        var call = calls.computeIfAbsent(index, _ -> new GrowingCall());
        call.id = call.id == null && fragment.get("id") instanceof String id ? id : call.id;
        if (fragment.get("function") instanceof Map<?, ?> function) {
          call.name =
              call.name == null && function.get("name") instanceof String name ? name : call.name;
          call.arguments.append(function.get("arguments") instanceof String more ? more : "");
        }
      }
    }
  }

  boolean isEmpty() {
    return calls.values().stream().noneMatch(GrowingCall::isKnown);
  }

  /** The calls in their order, as a message has them. */
  List<Map<String, Object>> whole() {
    return calls.values().stream().filter(GrowingCall::isKnown).map(RelayedCalls::whole).toList();
  }

  private static Map<String, Object> whole(GrowingCall call) {
    var function = new LinkedHashMap<String, Object>();
    function.put("name", Objects.requireNonNull(call.name));
    function.put("arguments", call.arguments.toString());
    var out = new LinkedHashMap<String, Object>();
    out.put("id", Objects.requireNonNull(call.id));
    out.put("type", "function");
    out.put("function", function);
    return out;
  }
}
