package io.dynamo.wire.generate;

import io.dynamo.inference.Handoff.Bootstrap;
import io.dynamo.inference.Handoff.PrefillResult;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.UUID;

/** Reads and writes {@code prefill_result} and {@code bootstrap_info}. */
final class HandoffShape {
  /** The positions of the names in {@link #KEYS}. */
  private static final class PrefillField {
    static final int DISAGGREGATED_PARAMS = 0;
    static final int PROMPT_TOKENS_DETAILS = 1;
    static final Keys KEYS =
        new Keys(
            Keys.entry(DISAGGREGATED_PARAMS, "disaggregated_params"),
            Keys.entry(PROMPT_TOKENS_DETAILS, "prompt_tokens_details"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class BootstrapField {
    static final int BOOTSTRAP_HOST = 0;
    static final int BOOTSTRAP_PORT = 1;
    static final int BOOTSTRAP_ROOM = 2;
    static final int HANDOFF_ID = 3;
    static final Keys KEYS =
        new Keys(
            Keys.entry(BOOTSTRAP_HOST, "bootstrap_host"),
            Keys.entry(BOOTSTRAP_PORT, "bootstrap_port"),
            Keys.entry(BOOTSTRAP_ROOM, "bootstrap_room"),
            Keys.entry(HANDOFF_ID, "handoff_id"));
  }

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
    for (int key = in.nextKey(PrefillField.KEYS);
        key != Keys.END;
        key = in.nextKey(PrefillField.KEYS)) {
      switch (key) {
        case PrefillField.DISAGGREGATED_PARAMS -> params = in.any();
        case PrefillField.PROMPT_TOKENS_DETAILS -> details = in.any();
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
    for (int key = in.nextKey(BootstrapField.KEYS);
        key != Keys.END;
        key = in.nextKey(BootstrapField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case BootstrapField.BOOTSTRAP_HOST -> host = in.string();
          case BootstrapField.BOOTSTRAP_PORT -> port = in.smallInteger();
          case BootstrapField.BOOTSTRAP_ROOM -> room = in.unsigned();
          case BootstrapField.HANDOFF_ID -> handoff = in.uuid();
          default -> throw new IllegalStateException("key " + key);
        }
      }
    }
    if (host == null || port < 0 || port > 0xffff || room == null) {
      throw new IOException("bootstrap_info needs a host, a port below 65536 and a room");
    }
    return new Bootstrap(host, port, room, handoff);
  }
}
