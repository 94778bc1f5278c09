package io.dynamo.frontend.openai;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the agent session that a request belongs to, in the headers of Dynamo's own clients, Claude
 * Code, Codex or OpenCode, in this order.
 */
final class AgentContext {
  private static final int MAX_RECORDED_CHARS = 1024;
  private static final List<String> RECORDED =
      List.of("session_id", "parent_session_id", "session_final", "input_trigger");

  private AgentContext() {}

  /**
   * The session as JSON for the worker; empty when no header names one.
   *
   * @param headers by lower-case name
   * @param trigger the kind of the last message
   */
  static Map<String, Object> of(Map<String, String> headers, String trigger) {
    var context = new LinkedHashMap<String, Object>();
    if (has(headers, "x-dynamo-session-id")) {
      session(headers, context, "x-dynamo-session-id", "x-dynamo-parent-session-id");
      if ("true".equalsIgnoreCase(headers.get("x-dynamo-session-final"))) {
        context.put("session_final", true);
      }
    } else if (has(headers, "x-claude-code-session-id")) {
      claudeCode(headers, context);
    } else if (has(headers, "thread-id")) {
      session(headers, context, "thread-id", "x-codex-parent-thread-id");
      note(headers, context, "thread-id", "x-codex-parent-thread-id", "x-codex-turn-metadata");
    } else if (has(headers, "x-session-id")) {
      session(headers, context, "x-session-id", "x-parent-session-id");
      note(headers, context, "x-session-id", "x-parent-session-id");
    } else {
      return Map.of();
    }
    context.put("input_trigger", trigger);
    return context;
  }

  /**
   * Returns the part of a session that records have; ids of more than 1024 characters are left out.
   *
   * @param context of {@link #of}
   */
  static Map<String, Object> recorded(Map<String, Object> context) {
    var recorded = new LinkedHashMap<String, Object>();
    for (var name : RECORDED) {
      var value = context.get(name);
      if (value != null && !(value instanceof String id && id.length() > MAX_RECORDED_CHARS)) {
        recorded.put(name, value);
      }
    }
    return recorded;
  }

  private static void session(
      Map<String, String> headers, Map<String, Object> to, String own, String parent) {
    put(to, "session_id", headers.get(own));
    put(to, "parent_session_id", headers.get(parent));
  }

  /** An agent is a session of its own, below the one that started it. */
  private static void claudeCode(Map<String, String> headers, Map<String, Object> to) {
    var session = headers.get("x-claude-code-session-id");
    var agent = headers.get("x-claude-code-agent-id");
    var parent = headers.get("x-claude-code-parent-agent-id");
    put(to, "session_id", agent == null ? session : agent);
    put(to, "parent_session_id", parent == null && agent != null ? session : parent);
    note(
        headers,
        to,
        "x-claude-code-session-id",
        "x-claude-code-agent-id",
        "x-claude-code-parent-agent-id");
  }

  private static boolean has(Map<String, String> headers, String name) {
    return !headers.getOrDefault(name, "").isBlank();
  }

  private static void put(Map<String, Object> to, String name, @Nullable String value) {
    if (value != null && !value.isBlank()) {
      to.put(name, value);
    }
  }

  private static void note(Map<String, String> headers, Map<String, Object> to, String... names) {
    var used = new TreeMap<String, List<String>>();
    for (var name : names) {
      var value = headers.get(name);
      if (value != null) {
        used.put(name, List.of(value));
      }
    }
    to.put("agent_headers", used);
  }
}
