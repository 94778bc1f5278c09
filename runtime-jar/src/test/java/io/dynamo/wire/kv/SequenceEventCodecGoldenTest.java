package io.dynamo.wire.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.CapturedEvent;
import io.dynamo.kv.PrefillCompleted;
import io.dynamo.kv.SequenceAdded;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.SequenceFreed;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.token.BlockHashes;
import io.dynamo.wire.WireWriter;
import io.dynamo.wire.event.EnvelopeCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Compares events of placed requests with messages of Dynamo 1.6.1. */
class SequenceEventCodecGoldenTest {
  private static final int FRAME_HEADER_BYTES = 5;
  private static final String ID = "0b3c1d33-3fc8-4816-ae75-dc643ca8bdd1";
  private static final WorkerRank RANK = rank("15898179769899374063");
  private static final InstanceId ROUTER = id("11740333430001653600");

  private static InstanceId id(String unsigned) {
    return new InstanceId(Long.parseUnsignedLong(unsigned));
  }

  private static WorkerRank rank(String worker) {
    return new WorkerRank(id(worker), 0);
  }

  private static byte[] payload(String name) throws IOException {
    var frame =
        ByteBuffer.wrap(CapturedEvent.frames("active_sequences-" + name).get(3))
            .position(FRAME_HEADER_BYTES);
    return EnvelopeCodec.decode(frame).payload();
  }

  private static void isTheCaptured(String name, SequenceEvent... events) throws IOException {
    assertThat(SequenceEventCodec.encode(List.of(events))).isEqualTo(payload(name));
    assertThat(SequenceEventCodec.decode(payload(name))).containsExactly(events);
  }

  @Test
  void anAddedRequestIsTheCapturedOne() throws IOException {
    var prompt =
        BlockHashes.ofSequences(
            Long.parseUnsignedLong("10808036983583618653"), 3358843150613731703L);

    isTheCaptured("AddRequest-router", new SequenceAdded(ID, RANK, ROUTER, prompt, 40));
  }

  @Test
  void aCompletedPrefillIsTheCapturedOne() throws IOException {
    isTheCaptured("MarkPrefillCompleted-router", new PrefillCompleted(ID, RANK, ROUTER));
    isTheCaptured("MarkPrefillCompleted-worker", new PrefillCompleted(ID, RANK, RANK.worker()));
  }

  @Test
  void aFreedRequestIsTheCapturedOne() throws IOException {
    isTheCaptured("Free-router", new SequenceFreed(ID, RANK, ROUTER));
  }

  @Test
  void aBatchIsTheCapturedOne() throws IOException {
    var id = "a9255d5c-7a39-4323-86c0-836079aca205";
    var rank = rank("17898289206368179285");
    var router = id("15459233857705095887");

    isTheCaptured(
        "batch-router",
        new PrefillCompleted(id, rank, router),
        new SequenceFreed(id, rank, router));
  }

  private static byte[] batch(Object... data) {
    var events =
        Arrays.stream(data)
            .map(
                one ->
                    Map.of(
                        "router_id",
                        3,
                        "data",
                        one,
                        "worker",
                        Map.of("worker_id", 1, "x", 0),
                        "request_id",
                        "r",
                        "later",
                        List.of()))
            .toList();
    return WireWriter.write(
        Map.of("events", events, "more", 1), PayloadFormat.MSGPACK, WireWriter::any);
  }

  @Test
  void kindsThatWeDoNotKnowArePassedOver() {
    var rank = new WorkerRank(new InstanceId(1), 0);

    assertThat(SequenceEventCodec.decode(batch("Paused", Map.of("Moved", Map.of()), "Free")))
        .containsExactly(new SequenceFreed("r", rank, new InstanceId(3)));
  }

  @Test
  void optionalFieldsMayBeMissing() {
    var added =
        (SequenceAdded) SequenceEventCodec.decode(batch(Map.of("AddRequest", Map.of()))).getFirst();
    var untracked =
        Map.of(
            "track_prefill_tokens",
            false,
            "prefill_load_hint",
            Map.of("initial_effective_prefill_tokens", 7));

    assertThat(added.prompt().length()).isZero();
    assertThat(added.tokensToPrefill()).isZero();
    assertThat(SequenceEventCodec.decode(batch(Map.of("AddRequest", untracked))))
        .containsExactly(added);
  }

  @Test
  void malformedBatchesAreRefused() throws IOException {
    var captured = payload("AddRequest-router");

    for (int length = 0; length < captured.length; length++) {
      var cut = Arrays.copyOf(captured, length);
      assertThatThrownBy(() -> SequenceEventCodec.decode(cut))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> SequenceEventCodec.decode(new byte[] {(byte) 0x80}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("events");
  }

  @Test
  void aPrefillThatNoPromptHasIsRefused() {
    for (long tokens : new long[] {-1, 1L << 31, Long.MAX_VALUE}) {
      var hint = Map.of("prefill_load_hint", Map.of("initial_effective_prefill_tokens", tokens));
      assertThatThrownBy(() -> SequenceEventCodec.decode(batch(Map.of("AddRequest", hint))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("tokens");
    }
  }
}
