package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The stop strings and ids of a request. */
final class StopFields {
  private static final int MAX_STOPS = 32;
  private static final int MAX_STOP_CHARACTERS = 1024; // compared with every token's text
  private static final int MAX_STOP_IDS = 1024; // compared with every token

  private final List<String> strings = new ArrayList<>();
  private final List<Integer> ids = new ArrayList<>();
  private @Nullable String faultOfIds;

  StopFields(JsonFields fields) {
    var stop = fields.get("stop");
    if (stop != null && stop.isTextual()) {
      strings.add(stop.textValue());
    } else if (stop != null) {
      readList(stop);
    }
    var more = fields.get("stop_token_ids");
    if (more != null) {
      readIds(more);
    }
  }

  private void readList(JsonNode stop) {
    if (!stop.isArray()) {
      throw JsonFields.wrong("stop", stop, "a string, a list of strings or a list of token ids");
    }
    if (stop.size() > MAX_STOPS) {
      throw GenerationReader.refusePlainly(
          "stop", "Maximum of %d stop sequences allowed, got %d".formatted(MAX_STOPS, stop.size()));
    }
    boolean allIds = !stop.isEmpty() && JsonFields.isTokenId(stop.get(0));
    for (int i = 0; i < stop.size(); i++) {
      var element = stop.get(i);
      if (allIds && JsonFields.isTokenId(element)) {
        ids.add((int) element.longValue());
      } else if (!allIds && element.isTextual()) {
        strings.add(element.textValue());
      } else {
        throw JsonFields.wrong("stop[" + i + "]", element, allIds ? "a token id" : "a string");
      }
    }
  }

  private void readIds(JsonNode more) {
    if (more.size() > MAX_STOP_IDS) {
      faultOfIds =
          "Maximum of %d stop token IDs allowed, got %d".formatted(MAX_STOP_IDS, more.size());
      return;
    }
    boolean own = ids.isEmpty(); // ids in `stop` win
    boolean valid = more.isArray();
    for (var element : more) {
      valid &= JsonFields.isTokenId(element);
      if (valid && own) {
        ids.add((int) element.longValue());
      }
    }
    faultOfIds = valid ? null : "`stop_token_ids` must be an array of token IDs";
  }

  void check() {
    if (faultOfIds != null) {
      throw GenerationReader.refuse("stop_token_ids", faultOfIds);
    }
    for (int i = 0; i < strings.size(); i++) {
      if (strings.get(i).isEmpty()) {
        throw GenerationReader.refuse("stop", "Stop sequence at index " + i + " cannot be empty");
      }
      if (strings.get(i).length() > MAX_STOP_CHARACTERS) {
        throw GenerationReader.refuse(
            "stop",
            "Stop sequence at index %d must not exceed %d characters, got %d"
                .formatted(i, MAX_STOP_CHARACTERS, strings.get(i).length()));
      }
    }
  }

  List<String> strings() {
    return strings;
  }

  List<Integer> ids() {
    return ids;
  }
}
