package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes the body of a request for a record: inline media are named by type and length only, and
 * credentials in URLs are masked.
 */
public final class RedactedJson {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String SCHEME = "data:";
  private static final int SHORT = 256; // shorter texts are no media
  private static final int SHOWN = 64; // of a data URL's head

  /** The members whose text is base64 when it is long. */
  private static final Set<String> ENCODED = Set.of("data", "file_data", "b64_json");

  private RedactedJson() {}

  /** A text of at most so many bytes. */
  private static final class BoundedOutput extends OutputStream {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int most;

    BoundedOutput(int most) {
      this.most = most;
    }

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] from, int at, int count) throws IOException {
      if (count > most - bytes.size()) {
        throw new TooLongException();
      }
      bytes.write(from, at, count);
    }
  }

  private static final class TooLongException extends IOException {
    private static final long serialVersionUID = 1;
  }

  /** Returns {@code body} as UTF-8; null when it takes more than {@code most} bytes. */
  public static byte @Nullable [] write(JsonNode body, int most) {
    var out = new BoundedOutput(most);
    try (var json = MAPPER.createGenerator(out)) {
      json.disable(JsonGenerator.Feature.AUTO_CLOSE_JSON_CONTENT);
      write(json, "", body);
    } catch (TooLongException e) {
      return null;
    } catch (IOException e) { // none: it is memory
      throw new UncheckedIOException(e);
    }
    return out.bytes.toByteArray();
  }

  private static void write(JsonGenerator json, String name, JsonNode value) throws IOException {
    if (value.isObject()) {
      json.writeStartObject();
      for (var member : value.properties()) {
        json.writeFieldName(member.getKey());
        write(json, member.getKey(), member.getValue());
      }
      json.writeEndObject();
    } else if (value.isArray()) {
      json.writeStartArray();
      for (var element : value) {
        write(json, name, element);
      }
      json.writeEndArray();
    } else if (value.isTextual()) {
      json.writeString(shown(name, value.textValue()));
    } else if (value.isPojo()) {
      json.writeNull(); // contents that are no JSON
    } else {
      MAPPER.writeTree(json, value);
    }
  }

  private static String shown(String name, String text) {
    if (text.length() <= SHORT) {
      return UrlSecrets.masked(text);
    }
    if (text.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      int comma = text.indexOf(',');
      int head = comma < 0 ? SHOWN : Math.min(comma + 1, SHOWN);
      return text.substring(0, head) + omitted(text.length() - head);
    }
    return ENCODED.contains(name) && text.indexOf(' ') < 0
        ? omitted(text.length())
        : UrlSecrets.masked(text);
  }

  private static String omitted(int characters) {
    return "[" + characters + " characters]";
  }
}
