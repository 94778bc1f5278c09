package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The results of tools in the order of their calls, in which Kimi K3 knows them. Stateless. */
final class KimiK3Results {
  /**
   * The message of a result.
   *
   * @param call the number of its call among those of the assistant; null when its id is not theirs
   */
  record Result(Map<String, Object> message, @Nullable Integer call) {
    /**
     * The name of the tool: that of the call, or else the message's own, or that of the call at its
     * place.
     */
    String tool(int place, List<?> calls) {
      if (call != null) {
        return String.valueOf(function(calls.get(call)).get("name"));
      }
      var own = message.get("tool") instanceof String tool ? tool : message.get("name");
      if (own instanceof String name) {
        return name;
      }
      if (place > calls.size()) {
        throw new InvalidRequestException(
            "a message of a tool has a tool_call_id that no call of the assistant before it has, and no name of the tool");
      }
      return String.valueOf(function(calls.get(place - 1)).get("name"));
    }
  }

  private KimiK3Results() {}

  /**
   * The results of {@code messages}, sorted when all of their ids are those of {@code calls}.
   *
   * @param messages of tools, one behind the other
   */
  static List<Result> inOrder(List<Map<String, Object>> messages, List<?> calls) {
    var places = new HashMap<String, Integer>();
    for (int i = 0; i < calls.size(); i++) {
      if (calls.get(i) instanceof Map<?, ?> call && call.get("id") != null) {
        places.putIfAbsent(String.valueOf(call.get("id")), i);
      }
    }
    var sorted = new ArrayList<Result>();
    for (var message : messages) {
      var call = places.get(String.valueOf(message.get("tool_call_id")));
      if (call == null) {
        return messages.stream().map(each -> new Result(each, null)).toList();
      }
      sorted.add(new Result(message, call));
    }
    sorted.sort(Comparator.comparingInt(result -> result.call() == null ? 0 : result.call()));
    return sorted;
  }

  /** The function of a call, which may be the call itself. */
  static Map<?, ?> function(@Nullable Object call) {
    return call instanceof Map<?, ?> map
        ? map.get("function") instanceof Map<?, ?> function ? function : map
        : Map.of();
  }
}
