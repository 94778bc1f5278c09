package io.dynamo.wire;

import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;

/** Endpoints whose requests and items are maps of anything, as captures of other endpoints hold. */
public final class AnyCodec implements MessageCodec<Map<?, ?>, Map<?, ?>> {
  @Override
  public ItemForm itemForm() {
    return ItemForm.ANNOTATED;
  }

  @Override
  public byte[] encodeRequest(Map<?, ?> request, PayloadFormat format) {
    return WireWriter.write(request, format, WireWriter::any);
  }

  @Override
  public Map<?, ?> decodeRequest(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("anything", body, format, AnyCodec::map);
  }

  @Override
  public byte[] encodeItem(Map<?, ?> item, PayloadFormat format) {
    return encodeRequest(item, format);
  }

  @Override
  public Map<?, ?> decodeItem(ByteBuffer body, PayloadFormat format) {
    return decodeRequest(body, format);
  }

  private static Map<?, ?> map(WireReader in) throws IOException {
    return in.any() instanceof Map<?, ?> map ? map : Map.of();
  }
}
