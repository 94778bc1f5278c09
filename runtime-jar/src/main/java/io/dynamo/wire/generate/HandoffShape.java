package io.dynamo.wire.generate;

import io.dynamo.inference.Handoff.Bootstrap;
import io.dynamo.inference.Handoff.PrefillResult;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.UUID;

/** {@code prefill_result} and {@code bootstrap_info}. */
final class HandoffShape {
  private static final Keys PREFILL = new Keys("disaggregated_params", "prompt_tokens_details");
  private static final Keys BOOTSTRAP =
      new Keys("bootstrap_host", "bootstrap_port", "bootstrap_room", "handoff_id");

  private HandoffShape() {}

  static void write(WireWriter out, PrefillResult result) throws IOException {
    out.beginMap(2);
    out.anyOrNil("disaggregated_params", result.params());
    out.anyOrNil("prompt_tokens_details", result.promptTokensDetails());
    out.endMap();
  }

  static void write(WireWriter out, Bootstrap bootstrap) throws IOException {
    var handoff = bootstrap.handoffId();
    out.beginMap(handoff == null ? 3 : 4);
    out.key("bootstrap_host");
    out.string(bootstrap.host());
    out.key("bootstrap_port");
    out.integer(bootstrap.port());
    out.key("bootstrap_room");
    out.unsigned(bootstrap.room());
    if (handoff != null) {
      out.key("handoff_id");
      out.uuid(handoff);
    }
    out.endMap();
  }

  static PrefillResult readPrefill(WireReader in) throws IOException {
    Object params = null;
    Object details = null;
    in.beginMap();
    for (int key = in.nextKey(PREFILL); key != Keys.END; key = in.nextKey(PREFILL)) {
      switch (key) {
        case 0 -> params = in.any();
        case 1 -> details = in.any();
        default -> in.skip();
      }
    }
    return new PrefillResult(params, details);
  }

  static Bootstrap readBootstrap(WireReader in) throws IOException {
    String host = null;
    int port = -1;
    Long room = null;
    UUID handoff = null;
    in.beginMap();
    for (int key = in.nextKey(BOOTSTRAP); key != Keys.END; key = in.nextKey(BOOTSTRAP)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> host = in.string();
          case 1 -> port = in.smallInteger();
          case 2 -> room = in.unsigned();
          default -> handoff = in.uuid();
        }
      }
    }
    if (host == null || port < 0 || port > 0xffff || room == null) {
      throw new IOException("bootstrap_info needs a host, a port below 65536 and a room");
    }
    return new Bootstrap(host, port, room, handoff);
  }
}
