package io.dynamo.wire.generate;

import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/** Encodes and decodes requests that are the body of a client's, and their answers. Stateless. */
public final class BodyTaskCodec implements MessageCodec<BodyTask, TaskOutput> {
  @Override
  public ItemForm itemForm() {
    return ItemForm.ANNOTATED;
  }

  @Override
  public byte[] encodeRequest(BodyTask request, PayloadFormat format) {
    return WireWriter.write(request.body(), format, WireWriter::any);
  }

  @Override
  public BodyTask decodeRequest(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("request", body, format, BodyTaskCodec::readRequest);
  }

  private static BodyTask readRequest(WireReader in) throws IOException {
    if (!(in.any() instanceof Map<?, ?> map)) {
      throw new IOException("the request is no map");
    }
    var body = new LinkedHashMap<String, Object>();
    map.forEach((key, value) -> body.put(String.valueOf(key), value));
    return new BodyTask(body);
  }

  @Override
  public byte[] encodeItem(TaskOutput item, PayloadFormat format) {
    return WireWriter.write(item, format, (out, it) -> out.any(it.json()));
  }

  @Override
  public TaskOutput decodeItem(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("item", body, format, in -> new TaskOutput(in.any()));
  }
}
