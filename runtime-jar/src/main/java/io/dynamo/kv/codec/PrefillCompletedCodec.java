package io.dynamo.kv.codec;

import io.dynamo.kv.PrefillCompleted;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.codec.WireWriter;
import java.io.IOException;
import java.util.List;

/**
 * A payload of the topic {@code active_sequences_events}: a batch of Dynamo's {@code
 * ActiveSequenceEvent} maps, here all of the kind {@code MarkPrefillCompleted}. Stateless.
 */
public final class PrefillCompletedCodec {
  private PrefillCompletedCodec() {}

  public static byte[] encode(List<PrefillCompleted> marks) {
    return WireWriter.write(marks, PayloadFormat.MSGPACK, PrefillCompletedCodec::write);
  }

  private static void write(WireWriter out, List<PrefillCompleted> marks) throws IOException {
    out.beginMap(1);
    out.key("events");
    out.beginArray(marks.size());
    for (var mark : marks) {
      out.beginMap(5);
      out.key("request_id");
      out.string(mark.requestId());
      out.key("worker");
      out.beginMap(2);
      out.key("worker_id");
      out.unsigned(mark.rank().worker().value());
      out.key("dp_rank");
      out.integer(mark.rank().rank());
      out.endMap();
      out.key("data");
      out.string("MarkPrefillCompleted");
      out.key("router_id");
      out.unsigned(mark.teller().value());
      out.nil("lora_name");
      out.endMap();
    }
    out.endArray();
    out.endMap();
  }
}
