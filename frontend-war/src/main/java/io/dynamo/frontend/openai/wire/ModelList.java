package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import java.time.Instant;
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

    private void appendAnthropic(ByteText json) {
      json.ascii("{\"id\":").quoted(id).ascii(",\"display_name\":").quoted(id);
      json.ascii(",\"type\":\"model\",\"created_at\":");
      json.quoted(Instant.ofEpochSecond(createdSeconds).toString());
      if (contextWindow > 0) {
        json.ascii(",\"max_input_tokens\":").number(contextWindow);
      }
      if (maxOutputTokens != null) {
        json.ascii(",\"max_tokens\":").number(maxOutputTokens);
      }
      json.ascii("}");
    }

    /** The entry alone in Anthropic's form, as UTF-8 JSON. */
    public byte[] anthropicBody() {
      var json = new ByteText(128);
      appendAnthropic(json);
      return json.toByteArray();
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

  /** The list in Anthropic's form, as UTF-8 JSON; one page has all. */
  public byte[] anthropicBody() {
    var json = new ByteText(64 + 128 * data.size());
    json.ascii("{\"data\":[");
    for (int i = 0; i < data.size(); i++) {
      json.ascii(i == 0 ? "" : ",");
      data.get(i).appendAnthropic(json);
    }
    json.ascii("],\"has_more\":false,\"first_id\":");
    id(data.isEmpty() ? null : data.getFirst(), json).ascii(",\"last_id\":");
    return id(data.isEmpty() ? null : data.getLast(), json).ascii("}").toByteArray();
  }

  private static ByteText id(@Nullable Entry entry, ByteText json) {
    return entry == null ? json.ascii("null") : json.quoted(entry.id());
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
