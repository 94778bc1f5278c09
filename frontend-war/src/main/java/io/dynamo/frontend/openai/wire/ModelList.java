package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes the list of models. */
public record ModelList(List<Entry> data) {
  /**
   * One model.
   *
   * @param createdSeconds UNIX time
   * @param contextWindow positions; 0 when unknown, as Dynamo writes it
   * @param maxOutputTokens of one answer; null leaves it out
   */
  public record Entry(
      String id, long createdSeconds, int contextWindow, @Nullable Integer maxOutputTokens) {
    private void appendTo(ByteText json) {
      json.ascii("{\"id\":").quoted(id).ascii(",\"object\":\"model\",\"created\":");
      json.number(createdSeconds).ascii(",\"owned_by\":\"nvidia\",\"context_window\":");
      json.number(contextWindow);
      if (maxOutputTokens != null) {
        json.ascii(",\"max_output_tokens\":").number(maxOutputTokens);
      }
      json.ascii("}");
    }

    /** The entry alone, as UTF-8 JSON. */
    public byte[] body() {
      var json = new ByteText(128);
      appendTo(json);
      return json.toByteArray();
    }
  }

  public ModelList {
    data = List.copyOf(data);
  }

  /** The list as UTF-8 JSON. */
  public byte[] body() {
    var json = new ByteText(64 + 128 * data.size());
    json.ascii("{\"object\":\"list\",\"data\":[");
    for (int i = 0; i < data.size(); i++) {
      json.ascii(i == 0 ? "" : ",");
      data.get(i).appendTo(json);
    }
    return json.ascii("]}").toByteArray();
  }
}
