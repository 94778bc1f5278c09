package io.dynamo.frontend.record;

import io.dynamo.frontend.sse.ByteText;
import java.util.Map;

/** Writes parts of records as JSON. */
final class RecordText {
  private RecordText() {}

  /**
   * Appends a flat object.
   *
   * @param fields texts, numbers that JSON has, and truth values, by names in ASCII
   */
  static ByteText object(ByteText json, Map<String, ?> fields) {
    json.ascii("{");
    var separator = "";
    for (var field : fields.entrySet()) {
      json.ascii(separator).quoted(field.getKey()).ascii(":");
      if (field.getValue() instanceof String text) {
        json.quoted(text);
      } else {
        json.ascii(String.valueOf(field.getValue()));
      }
      separator = ",";
    }
    return json.ascii("}");
  }
}
