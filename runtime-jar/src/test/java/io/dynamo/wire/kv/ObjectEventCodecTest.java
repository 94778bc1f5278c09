package io.dynamo.wire.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.kv.ObjectEvent;
import io.dynamo.kv.ObjectEvent.Medium;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

class ObjectEventCodecTest {
  /** Begins a batch as the master of Mooncake writes it. */
  private static MessageBufferPacker batch(int events) throws IOException {
    var packer = MessagePack.newDefaultBufferPacker();
    packer.packArrayHeader(3).packLong(1_789_000_000_123L).packArrayHeader(events);
    return packer;
  }

  private static byte[] ended(MessageBufferPacker packer) throws IOException {
    packer.packInt(0); // the rank
    packer.close();
    return packer.toByteArray();
  }

  /** All fields that the master's publisher documents for an object, in its order. */
  private static void object(
      MessageBufferPacker packer, String type, String key, String tenant, String medium)
      throws IOException {
    packer.packMapHeader(17);
    packer.packString("event_id").packLong(7);
    packer.packString("timestamp").packLong(1_789_000_000_123L);
    packer.packString("event_type").packString(type);
    packer.packString("model_name").packString("m");
    packer.packString("block_size").packNil();
    packer.packString("additional_salt").packNil();
    packer.packString("lora_name").packNil();
    packer.packString("tenant_id").packString(tenant);
    packer.packString("backend_id").packString("pool-a");
    packer.packString("medium").packString(medium);
    packer.packString("dp_rank").packInt(0);
    packer.packString("type").packString("BlockStored");
    packer.packString("group_id").packString("sglang-hicache:ab");
    packer.packString("seq_hashes").packArrayHeader(1).packLong(3);
    packer.packString("base_block_idx").packNil();
    packer.packString("object_key").packString(key);
    packer.packString("block_hashes").packArrayHeader(0);
  }

  @Test
  void capturedEventsOfAMasterAreDecoded() throws IOException {
    var keys =
        "Qwen-Qwen3-0.6B_692b59fe36c858e9887be6dc9afc6ee2d9d5ce1cb9e45d19384072baf4dceb64_0_";
    List<List<ObjectEvent>> batches = new ArrayList<>();
    try (var in = getClass().getResourceAsStream("/golden/mooncake/object-events.hex")) {
      var text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.US_ASCII);
      for (var line : text.lines().toList()) {
        batches.add(ObjectEventCodec.decode(HexFormat.of().parseHex(line.split(" ", -1)[1])));
      }
    }
    assertThat(batches)
        .containsExactly(
            List.of(new ObjectEvent.Stored("default", keys + "k", Medium.MEMORY)),
            List.of(new ObjectEvent.Stored("default", keys + "v", Medium.MEMORY)),
            List.of(new ObjectEvent.Removed("default", keys + "k", Medium.MEMORY)),
            List.of(new ObjectEvent.Removed("default", keys + "v", Medium.MEMORY)),
            List.of(new ObjectEvent.Cleared("default")));
  }

  @Test
  void objectEventsAreDecoded() throws IOException {
    var packer = batch(3);
    object(packer, "stored", "ab_0_k", "default", "cpu");
    object(packer, "stored", "ab_0_k", "other", "disk");
    object(packer, "removed", "ab_0_k", "default", "disk");

    assertThat(ObjectEventCodec.decode(ended(packer)))
        .containsExactly(
            new ObjectEvent.Stored("default", "ab_0_k", Medium.MEMORY),
            new ObjectEvent.Stored("other", "ab_0_k", Medium.DISK),
            new ObjectEvent.Removed("default", "ab_0_k", Medium.DISK));
  }

  @Test
  void missingFieldsTakeTheirDefaults() throws IOException {
    var packer = batch(4);
    packer.packMapHeader(2);
    packer.packString("event_type").packString("stored");
    packer.packString("object_key").packString("k");
    packer.packMapHeader(4);
    packer.packString("event_type").packString("removed");
    packer.packString("object_key").packString("k");
    packer.packString("medium").packNil();
    packer.packString("tenant_id").packString("");
    packer.packMapHeader(2);
    packer.packString("medium").packNil();
    packer.packString("event_type").packString("cleared");
    packer.packMapHeader(1);
    packer.packString("event_type").packString("stored"); // the publisher may leave keys out

    assertThat(ObjectEventCodec.decode(ended(packer)))
        .containsExactly(
            new ObjectEvent.Stored("default", "k", Medium.MEMORY),
            new ObjectEvent.Removed("default", "k", null),
            new ObjectEvent.Cleared("default"));
  }

  @Test
  void eventsOfOtherKindsArePassedOver() throws IOException {
    var packer = batch(2);
    object(packer, "promoted", "k", "default", "cpu");
    object(packer, "stored", "k", "default", "cpu");

    assertThat(ObjectEventCodec.decode(ended(packer))).hasSize(1);
  }

  @Test
  void nothingThatIsCutOffOrOfAnotherShapeIsRead() throws IOException {
    var packer = batch(1);
    object(packer, "stored", "ab_0_k", "default", "cpu");
    var whole = ended(packer);
    for (int length = 0; length < whole.length; length++) {
      var cut = Arrays.copyOf(whole, length);
      assertThatIllegalArgumentException()
          .as("%d of %d bytes", length, whole.length)
          .isThrownBy(() -> ObjectEventCodec.decode(cut));
    }
    var noType = batch(1).packMapHeader(1).packString("object_key").packString("k");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ObjectEventCodec.decode(ended((MessageBufferPacker) noType)))
        .withMessageContaining("event_type");
  }
}
