package io.dynamo.trace;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The reference by which other spans name a span, in the form of W3C Trace Context.
 *
 * @param traceId 32 lower-case hexadecimal digits, not all 0
 * @param spanId 16 of them, not all 0
 * @param isSampled whether the originator of the trace wants its spans recorded
 * @param state vendor data, passed on unchanged; null for none
 * @see <a href="https://www.w3.org/TR/trace-context/">W3C Trace Context</a>
 */
public record TraceContext(
    String traceId, String spanId, boolean isSampled, @Nullable String state) {
  public static final String PARENT_HEADER = "traceparent"; // lower case, as headers travel
  public static final String STATE_HEADER = "tracestate";

  private static final Pattern PARENT =
      Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");
  private static final String FUTURE_NEVER = "ff"; // a version that the standard forbids
  private static final int MAX_PARENT = 512; // characters, of a future version
  private static final int MAX_STATE = 512; // characters that must be passed on at least
  private static final int MAX_MEMBERS = 32;
  private static final String KEY =
      "[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}";
  private static final Pattern MEMBER =
      Pattern.compile("(" + KEY + ")=[ -+\\--<>-~]{0,255}[!-+\\--<>-~]");

  /**
   * Parses two headers; returns null when {@code traceparent} is absent or does not follow the
   * standard. A bad {@code tracestate} alone is dropped.
   */
  public static @Nullable TraceContext parse(
      @Nullable String traceparent, @Nullable String tracestate) {
    if (traceparent == null || traceparent.length() > MAX_PARENT) {
      return null;
    }
    var parts = PARENT.matcher(traceparent.strip());
    if (!parts.matches()) {
      return null;
    }
    var version = parts.group(1);
    boolean hasMore = parts.group(5) != null;
    if (version.equals(FUTURE_NEVER) || (version.equals("00") && hasMore)) {
      return null;
    }
    var traceId = parts.group(2);
    var spanId = parts.group(3);
    if (isZero(traceId) || isZero(spanId)) {
      return null;
    }
    boolean sampled = (Integer.parseInt(parts.group(4), 16) & 1) == 1;
    return new TraceContext(
        traceId,
        spanId,
        sampled,
        tracestate != null && isState(tracestate) ? tracestate.strip() : null);
  }

  /** Reads the trace context from a request's headers, by lower-case name. */
  public static @Nullable TraceContext of(Map<String, String> headers) {
    return parse(headers.get(PARENT_HEADER), headers.get(STATE_HEADER));
  }

  private static boolean isZero(String digits) {
    return digits.chars().allMatch(digit -> digit == '0');
  }

  private static boolean isState(@Nullable String text) {
    if (text == null || text.isBlank() || text.length() > MAX_STATE) {
      return false;
    }
    int members = 0;
    for (var member : text.split(",", -1)) {
      var stripped = member.strip();
      if (stripped.isEmpty()) {
        continue; // empty members are allowed: lists are joined from several headers
      }
      if (++members > MAX_MEMBERS || !MEMBER.matcher(stripped).matches()) {
        return false;
      }
    }
    return members > 0;
  }

  /** Returns the value of {@code traceparent}. */
  public String traceparent() {
    return "00-" + traceId + "-" + spanId + (isSampled ? "-01" : "-00");
  }

  /** Returns {@code headers} with this context in place of theirs. */
  public Map<String, String> in(Map<String, String> headers) {
    var all = new HashMap<>(headers);
    all.put(PARENT_HEADER, traceparent());
    if (state == null) {
      all.remove(STATE_HEADER);
    } else {
      all.put(STATE_HEADER, state);
    }
    return all;
  }
}
