package io.dynamo.wire;

import io.dynamo.json.JsonObject;
import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Messages that are maps without a fixed form, such as operators' commands and their answers: one
 * map in the request, annotated maps in the answer. Stateless.
 */
public final class JsonCodec implements MessageCodec<JsonObject, JsonObject> {
  @Override
  public ItemForm itemForm() {
    return ItemForm.ANNOTATED;
  }

  @Override
  public byte[] encodeRequest(JsonObject request, PayloadFormat format) {
    return write(request, format);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A request of null, which Dynamo's clients send for no request, is read as an empty map.
   */
  @Override
  public JsonObject decodeRequest(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("command", body, format, JsonCodec::readOrNone);
  }

  @Override
  public byte[] encodeItem(JsonObject item, PayloadFormat format) {
    return write(item, format);
  }

  @Override
  public JsonObject decodeItem(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("answer", body, format, JsonCodec::read);
  }

  private static byte[] write(JsonObject message, PayloadFormat format) {
    return WireWriter.write(message.members(), format, WireWriter::any);
  }

  private static JsonObject readOrNone(WireReader in) throws IOException {
    return in.isNil() ? new JsonObject(Map.of()) : read(in);
  }

  private static JsonObject read(WireReader in) throws IOException {
    if (!(in.any() instanceof Map<?, ?> map)) {
      throw new IOException("no map");
    }
    var members = new LinkedHashMap<String, @Nullable Object>();
    map.forEach((name, value) -> members.put(String.valueOf(name), value));
    return new JsonObject(members);
  }
}
