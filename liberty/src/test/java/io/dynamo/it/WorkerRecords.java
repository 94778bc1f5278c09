package io.dynamo.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.it.CapturedReplay.Difference;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The requests that the workers of the captures got, as they print them. */
final class WorkerRecords {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RECEIVED = "RECEIVED ";

  /**
   * The card, the number of tokens of bytes, and the ranks and workers that a router chose: other
   * ones than in the captures.
   */
  private static final Set<String> OTHERS =
      Set.of(
          "mdc_sum",
          "(token_count)",
          "dp_rank",
          "prefill_dp_rank",
          "backend_instance_id",
          "decode_worker_id",
          "prefill_worker_id");

  private static final String PROMPT = "(prompt_text)";

  /** The mark in place of the rest of a prompt that was captured in part. */
  private static final Pattern CUT = Pattern.compile("…<\\d+ characters>$");

  private final CapturedFleet workers;
  private int read; // of what they have printed

  WorkerRecords(CapturedFleet workers) {
    this.workers = workers;
  }

  /** Leaves out what was received until now. */
  void forget() {
    read = workers.console().length();
  }

  /**
   * Returns how the requests since {@link #forget} differ from captured ones; null when they do
   * not. Those of one call have no order: they are sent at once.
   */
  @Nullable Difference difference(JsonNode captured) throws IOException {
    var expected = new ArrayList<JsonNode>();
    captured.forEach(each -> expected.add(outline(each)));
    var cut = CUT.matcher(captured.path(0).path(PROMPT).asText());
    int kept = cut.find() ? cut.start() : Integer.MAX_VALUE;
    var got = new ArrayList<JsonNode>();
    for (var line : workers.console().substring(read).lines().toList()) {
      if (line.startsWith(RECEIVED)) {
        var request = (ObjectNode) JSON.readTree(line.substring(RECEIVED.length()));
        var prompt = request.path(PROMPT).asText();
        if (prompt.length() > kept) {
          request.put(
              PROMPT, "%s…<%d characters>".formatted(prompt.substring(0, kept), prompt.length()));
        }
        got.add(outline(request));
      }
    }
    for (var requests : List.of(expected, got)) {
      requests.sort(Comparator.comparing(each -> each.path(PROMPT) + "" + each.path("token_ids")));
    }
    return expected.equals(got)
        ? null
        : new Difference("the worker got " + expected + " became", JSON.valueToTree(got));
  }

  /** A request without what may differ, and without nulls. */
  private static JsonNode outline(JsonNode json) {
    if (json instanceof ArrayNode array) {
      var items = JSON.createArrayNode();
      array.forEach(each -> items.add(outline(each)));
      return items;
    }
    if (!(json instanceof ObjectNode object)) {
      return json;
    }
    var kept = JSON.createObjectNode();
    for (var field : object.properties()) {
      if (!field.getValue().isNull() && !OTHERS.contains(field.getKey())) {
        kept.set(field.getKey(), outline(field.getValue()));
      }
    }
    return kept;
  }
}
