package io.dynamo.frontend.record;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Gathers a request and its answer for a record, in the memory that all records share; what finds
 * no room there is left out. For one thread.
 */
public final class Payload {
  private static final String DROPPED = "response_stream_dropped";
  private static final String FAILED = "response_failed";
  private static final String TOO_LARGE = "too_large";
  private static final String NO_ROOM = "no_memory";
  private static final Pattern SECRET_NAME =
      Pattern.compile("auth|cookie|token|secret|key|password|signature");
  private static final Pattern SECRET_VALUE =
      Pattern.compile(
          "(bearer|basic|digest|negotiate) .*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final Map<String, String> ENDPOINTS =
      Map.of(
          "chat_completions", "openai.chat_completion",
          "completions", "openai.completion",
          "responses", "openai.response",
          "anthropic_messages", "anthropic.message");

  /**
   * The choice of what is recorded.
   *
   * @param headers of requests, by lower-case name
   * @param maxBytes of a request, and of an answer
   */
  record Rules(Set<String> headers, int maxBytes) {}

  private final RequestRecords records;
  private final Rules rules;
  private final Map<String, String> headers = new LinkedHashMap<>();
  private byte @Nullable [] request;
  private byte @Nullable [] answer;
  private @Nullable String lost;
  private long held;
  private long grown; // of that, for an answer that is being gathered
  private boolean generated;

  /**
   * @param headers of the request, by lower-case name
   */
  Payload(RequestRecords records, Rules rules, Map<String, String> headers) {
    this.records = records;
    this.rules = rules;
    for (var name : rules.headers()) {
      var value = headers.get(name);
      if (value != null) {
        this.headers.put(name, isSecret(name, value) ? "[masked]" : value);
      }
    }
  }

  private static boolean isSecret(String name, String value) {
    return SECRET_NAME.matcher(name).find() || SECRET_VALUE.matcher(value).matches();
  }

  /** The most bytes of a request that are recorded. */
  public int maxBytes() {
    return rules.maxBytes();
  }

  /**
   * Takes the body of the request.
   *
   * @param json in UTF-8; null when it has more than {@link #maxBytes}
   */
  public void request(byte @Nullable [] json) {
    if (json == null) {
      lost = TOO_LARGE;
    } else if (hold(json.length)) {
      request = json;
    }
  }

  /** Notes that the request has gone to a worker: one that was refused leaves no record. */
  public void generated() {
    generated = true;
  }

  /**
   * Takes memory for an answer that is being gathered.
   *
   * @param length of the answer so far, in bytes
   * @return false when the answer is left out
   */
  public boolean grow(long more, long length) {
    if (!fits(length) || !hold(more)) {
      return false;
    }
    grown += more;
    return true;
  }

  /** Frees the memory of an answer that was being gathered: it is whole now, or left out. */
  public void gathered() {
    records.release(grown);
    held -= grown;
    grown = 0;
  }

  private boolean fits(long length) {
    if (length > rules.maxBytes()) {
      lost = TOO_LARGE;
      return false;
    }
    return true;
  }

  private boolean hold(long bytes) {
    if (!records.hold(bytes)) {
      lost = NO_ROOM;
      return false;
    }
    held += bytes;
    return true;
  }

  /** Takes the whole answer, as JSON in UTF-8. */
  public void answer(byte[] json) {
    if (fits(json.length) && hold(json.length)) {
      answer = json;
    }
  }

  /**
   * Leaves the record, and frees the memory.
   *
   * @param gone whether the client left before the end of its answer
   */
  public void end(
      String requestId, String endpoint, @Nullable String model, long arrivalMillis, boolean gone) {
    records.release(held);
    held = 0;
    grown = 0;
    if (answer == null && lost == null) {
      lost = gone ? DROPPED : FAILED;
    }
    if (generated && model != null) {
      records.add(
          new PayloadRecord(
              requestId,
              ENDPOINTS.getOrDefault(endpoint, endpoint),
              model,
              request,
              answer,
              headers,
              lost,
              arrivalMillis));
    }
  }
}
