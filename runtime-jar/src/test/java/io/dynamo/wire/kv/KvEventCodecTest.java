package io.dynamo.wire.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.Residency;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessagePack;

class KvEventCodecTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(0xdca1ae44c02755efL), 0);

  /** The payload within the envelope of a captured message: the last of its frames. */
  private static byte[] golden(String name) throws IOException {
    try (var in = KvEventCodecTest.class.getResourceAsStream("/golden/events-zmq/" + name)) {
      var frames =
          new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.US_ASCII)
              .strip()
              .split("\\s+", -1);
      var frame = HexFormat.of().parseHex(frames[3]);
      try (var envelope = MessagePack.newDefaultUnpacker(frame, 5, frame.length - 5)) {
        for (int left = envelope.unpackMapHeader(); left > 0; left--) {
          if (envelope.unpackString().equals("payload")) {
            return envelope.readPayload(envelope.unpackBinaryHeader());
          }
          envelope.skipValue();
        }
      }
    }
    throw new AssertionError(name + " has no payload");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kv-events-stored-root.frames.hex",
        "kv-events-stored-child.frames.hex",
        "kv-events-removed.frames.hex",
        "kv-events-batch-removed-stored.frames.hex"
      })
  void capturedPayloadsAreWrittenByteForByte(String name) throws IOException {
    var payload = golden(name);

    assertThat(KvEventCodec.encode(KvEventCodec.decode(payload))).isEqualTo(payload);
  }

  @Test
  void aCapturedBatchIsRead() throws IOException {
    assertThat(KvEventCodec.decode(golden("kv-events-batch-removed-stored.frames.hex")))
        .containsExactly(
            new RankEvent(
                RANK,
                new KvEvent.Removed(
                    11,
                    List.of(
                        new SequenceHash(0xb201cc0b5d597db9L),
                        new SequenceHash(0x3d90bd878b24afc3L)))),
            new RankEvent(
                RANK,
                new KvEvent.Stored(
                    12,
                    null,
                    List.of(
                        new StoredBlock(
                            new SequenceHash(0x19e5239f7b8aea48L),
                            new BlockHash(0x19e5239f7b8aea48L)),
                        new StoredBlock(
                            new SequenceHash(0xc494c7d08e5466f6L),
                            new BlockHash(0xe877417a8afe0034L))))));
  }

  @Test
  void theReferencesSampleIsWrittenByteForByte() {
    var event =
        new RankEvent(
            new WorkerRank(new InstanceId(7), 0),
            new KvEvent.Stored(
                1,
                null,
                List.of(
                    new StoredBlock(new SequenceHash(101), new BlockHash(0xcb38e4d7fb2dca5cL)))));

    var payload = KvEventCodec.encode(List.of(event));

    assertThat(payload).hasSize(183);
    assertThat(KvEventCodec.decode(payload)).containsExactly(event);
  }

  @Test
  void keysMayComeInAnyOrderWithUnknownOnesAndWithoutDefaults() throws IOException {
    try (var out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(1).packMapHeader(3);
      out.packString("event").packMapHeader(2);
      out.packString("data").packString("cleared");
      out.packString("event_id").packInt(9);
      out.packString("later").packArrayHeader(1).packNil();
      out.packString("worker_id").packInt(7);

      assertThat(KvEventCodec.decode(out.toByteArray()))
          .containsExactly(
              new RankEvent(new WorkerRank(new InstanceId(7), 0), new KvEvent.Cleared(9)));
    }
  }

  @Test
  void anEventOfAnUnknownKindKeepsItsIdAndTheRestOfItsBatch() throws IOException {
    try (var out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(3);
      for (int id = 1; id <= 3; id++) {
        out.packMapHeader(2).packString("worker_id").packInt(7);
        out.packString("event").packMapHeader(2).packString("event_id").packInt(id);
        out.packString("data");
        switch (id) {
          case 1 -> out.packMapHeader(1).packString("moved").packArrayHeader(1).packInt(5);
          case 2 -> out.packString("paused");
          default -> out.packString("cleared");
        }
      }
      var rank = new WorkerRank(new InstanceId(7), 0);

      assertThat(KvEventCodec.decode(out.toByteArray()))
          .containsExactly(
              new RankEvent(rank, new KvEvent.Removed(1, List.of())),
              new RankEvent(rank, new KvEvent.Removed(2, List.of())),
              new RankEvent(rank, new KvEvent.Cleared(3)));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 127, 128, 65_536, Long.MAX_VALUE, Long.MIN_VALUE, -1})
  void idsOfAllSizesSurviveTheRoundTrip(long id) {
    var event =
        new RankEvent(
            new WorkerRank(new InstanceId(id), 0),
            new KvEvent.Removed(id, List.of(new SequenceHash(id))));

    assertThat(KvEventCodec.decode(KvEventCodec.encode(List.of(event)))).containsExactly(event);
  }

  @Test
  void negativeNumbersAreRefused() throws IOException {
    try (var out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(1).packMapHeader(1).packString("worker_id").packInt(-7);

      assertThatThrownBy(() -> KvEventCodec.decode(out.toByteArray()))
          .hasMessageContaining("the negative number -7");
    }
  }

  @Test
  void anEventOfAnotherTierKeepsItsIdAndChangesNothing() throws IOException {
    var payload = golden("kv-events-stored-root.frames.hex");
    var text = new String(payload, StandardCharsets.ISO_8859_1);
    var other = text.replace("\u00a6device", "\u00a6devicf").getBytes(StandardCharsets.ISO_8859_1);

    assertThat(KvEventCodec.decode(other))
        .containsExactly(new RankEvent(RANK, new KvEvent.Removed(1, List.of())));
  }

  @ParameterizedTest
  @EnumSource(StorageTier.class)
  void tiersDomainsAndSessionsSurvive(StorageTier tier) {
    var event =
        new RankEvent(
            RANK, tier, Residency.CACHE_OWNER, new KvEvent.Removed(3, List.of()), "session");

    assertThat(KvEventCodec.decode(KvEventCodec.encode(List.of(event)))).containsExactly(event);
  }

  @Test
  void aDomainThatIsNullOrUnknownIsSaidToBeUnsupported() throws IOException {
    try (var out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(2);
      for (int id = 1; id <= 2; id++) {
        out.packMapHeader(3).packString("worker_id").packInt(7);
        out.packString("residency_domain");
        if (id == 1) {
          out.packNil();
        } else {
          out.packString("elsewhere");
        }
        out.packString("event").packMapHeader(2).packString("event_id").packInt(id);
        out.packString("data").packString("cleared");
      }

      assertThat(KvEventCodec.decode(out.toByteArray()))
          .extracting(RankEvent::residency)
          .containsOnly(Residency.UNSUPPORTED);
    }
  }

  @Test
  void unknownFieldsAreSkipped() throws IOException {
    try (var out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(1).packMapHeader(4);
      out.packString("session_id").packString("s");
      out.packString("state_source").packMapHeader(1).packString("generation").packInt(4);
      out.packString("event").packMapHeader(3).packString("event_id").packInt(1);
      out.packString("dp_rank").packInt(2);
      out.packString("data").packMapHeader(1).packString("stored").packMapHeader(3);
      out.packString("blocks").packArrayHeader(1).packMapHeader(3);
      out.packString("mm_extra_info").packMapHeader(1).packString("mm_objects").packArrayHeader(1);
      out.packMapHeader(2).packString("mm_hash").packLong(9);
      out.packString("offsets").packArrayHeader(1).packArrayHeader(2).packInt(0).packInt(4);
      out.packString("tokens_hash").packInt(11);
      out.packString("block_hash").packInt(12);
      out.packString("start_position").packInt(3);
      out.packString("parent_hash").packInt(8);
      out.packString("worker_id").packInt(7);

      assertThat(KvEventCodec.decode(out.toByteArray()))
          .containsExactly(
              new RankEvent(
                  new WorkerRank(new InstanceId(7), 2),
                  StorageTier.DEVICE,
                  Residency.WORKER,
                  new KvEvent.Stored(
                      1,
                      new SequenceHash(8),
                      List.of(new StoredBlock(new SequenceHash(12), new BlockHash(11)))),
                  "s"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "80", "9180", "ddffffffff", "c0", "dd7fffffff", "9190"})
  void damagedPayloadsAreRefused(String hex) {
    assertThatThrownBy(() -> KvEventCodec.decode(HexFormat.of().parseHex(hex)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aCutPayloadIsRefusedWhereverItIsCut() throws IOException {
    var payload = golden("kv-events-batch-removed-stored.frames.hex");
    for (int length = 0; length < payload.length; length++) {
      var cut = java.util.Arrays.copyOf(payload, length);
      assertThatThrownBy(() -> KvEventCodec.decode(cut))
          .as("cut at %d", length)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
