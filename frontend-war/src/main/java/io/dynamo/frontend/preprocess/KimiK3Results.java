package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of one assistant's calls in their order, in which Kimi K3 knows them. For one thread.
 */
final class KimiK3Results {
  /**
   * The message of a result.
   *
   * @param tool the tool's name
   * @param place among all results since the assistant, from 1 on
   */
  record Result(Map<String, Object> message, String tool, int place) {}

  private final List<?> calls;
  private final Map<String, Integer> numbers = new HashMap<>(); // of calls by their ids
  private int written;

  /**
   * @param calls of the assistant
   */
  KimiK3Results(List<?> calls) {
    this.calls = calls;
    int number = 0;
    for (var each : calls) {
      if (each instanceof Map<?, ?> call && call.get("id") != null) {
        numbers.putIfAbsent(String.valueOf(call.get("id")), number);
      }
      number++;
    }
  }

  /**
   * The results of {@code messages}, sorted when all of their ids are those of the calls.
   *
   * @param messages of tools, one behind the other, behind those of earlier calls of this method
   */
  List<Result> next(List<Map<String, Object>> messages) {
    record Numbered(Map<String, Object> message, @Nullable Integer call) {}
    var ordered = new ArrayList<Numbered>();
    for (var message : messages) {
      ordered.add(
          new Numbered(
              message, message.get("tool_call_id") instanceof String id ? numbers.get(id) : null));
    }
    boolean known = ordered.stream().allMatch(each -> each.call() != null);
    if (known) {
      ordered.sort(Comparator.comparingInt(each -> each.call() == null ? 0 : each.call()));
    }
    var results = new ArrayList<Result>();
    for (var each : ordered) {
      written++;
      var tool = tool(each.message(), known ? each.call() : null);
      results.add(new Result(each.message(), tool, written));
    }
    return results;
  }

  /** The name of the call, or else the message's own, or that of the call at its place. */
  private String tool(Map<String, Object> message, @Nullable Integer call) {
    if (call != null) {
      return name(calls.get(call));
    }
    var own = message.get("tool") instanceof String tool ? tool : message.get("name");
    if (own instanceof String name) {
      return name;
    }
    if (written > calls.size()) {
      throw new InvalidRequestException(
          "a message of a tool has a tool_call_id that no call of the assistant before it has, and no name of the tool");
    }
    return name(calls.get(written - 1));
  }

  private static String name(@Nullable Object call) {
    return String.valueOf(PromptMessages.function(call).get("name"));
  }
}
