package io.dynamo.wire.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import io.dynamo.wire.Golden;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.request.ResponseEnvelope;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class KvQueryCodecGoldenTest {
  private static final WorkerRank RANK =
      new WorkerRank(InstanceId.ofHex("32e49ac03716d52"), 0); // the captured worker
  private static final String[] NAMES = {
    "events-2-to-3",
    "from-0",
    "initial-query",
    "invalid-range",
    "too-new",
    "tree-dump",
    "wrong-rank",
    "wrong-worker"
  };

  private final KvQueryCodec codec = new KvQueryCodec();

  static String[] captures() {
    return NAMES;
  }

  /** The body of a captured request. */
  private static byte[] query(String name) {
    var from = ByteBuffer.wrap(Golden.bytes("kv-recovery/" + name + ".request.bin"));
    from.position(from.position() + 2 + from.getShort(from.position()));
    from.position(from.position() + 2 + from.getShort(from.position()));
    from.getInt();
    return Golden.frame(from).body();
  }

  /** The frames of a captured answer after handshake and prologue: the item and the end mark. */
  private static byte[] reply(String name) {
    var from = ByteBuffer.wrap(Golden.bytes("kv-recovery/" + name + ".w2f.bin"));
    Golden.frame(from);
    Golden.frame(from);
    return Golden.frame(from).body();
  }

  private KvReply decoded(String name) {
    var envelope =
        ResponseEnvelope.read(ByteBuffer.wrap(reply(name)), ItemForm.PLAIN, PayloadFormat.MSGPACK);
    var item = envelope.item();
    if (item == null) {
      throw new AssertionError("no item in " + name);
    }
    return codec.decodeItem(item, PayloadFormat.MSGPACK);
  }

  @ParameterizedTest
  @MethodSource("captures")
  void capturedQueriesAreWrittenAgainByteForByte(String name) {
    byte[] body = query(name);
    var query = codec.decodeRequest(ByteBuffer.wrap(body), PayloadFormat.MSGPACK);
    assertThat(codec.encodeRequest(query, PayloadFormat.MSGPACK)).isEqualTo(body);
  }

  @ParameterizedTest
  @MethodSource("captures")
  void capturedRepliesAreWrittenAgainByteForByte(String name) {
    var form = codec.itemForm();
    byte[] head = ResponseEnvelope.head(form, PayloadFormat.MSGPACK);
    byte[] tail = ResponseEnvelope.tail(form, PayloadFormat.MSGPACK);
    byte[] item = codec.encodeItem(decoded(name), PayloadFormat.MSGPACK);
    assertThat(
            ByteBuffer.allocate(head.length + item.length + tail.length)
                .put(head)
                .put(item)
                .put(tail)
                .array())
        .isEqualTo(reply(name));
  }

  @Test
  void capturesMeanWhatWasAsked() {
    assertThat(codec.decodeRequest(ByteBuffer.wrap(query("tree-dump")), PayloadFormat.MSGPACK))
        .isEqualTo(KvQuery.ofAll(RANK));
    assertThat(codec.decodeRequest(ByteBuffer.wrap(query("events-2-to-3")), PayloadFormat.MSGPACK))
        .isEqualTo(new KvQuery(RANK, 2L, 3L, true));
    assertThat(decoded("initial-query")).isEqualTo(new KvReply.TreeDump(List.of(), 0));
    assertThat(decoded("too-new")).isEqualTo(new KvReply.TooNew(99_999, 7, 7));
    assertThat(decoded("invalid-range")).isEqualTo(new KvReply.InvalidRange(5, 2));
    assertThat(decoded("wrong-rank")).isInstanceOf(KvReply.Refused.class);
    assertThat(decoded("events-2-to-3"))
        .isInstanceOfSatisfying(
            KvReply.Events.class,
            events -> {
              assertThat(events.lastId()).isEqualTo(7);
              assertThat(events.events()).extracting(RankEvent::rank).containsOnly(RANK);
              assertThat(events.events())
                  .extracting(it -> it.event().id())
                  .containsExactly(2L, 3L, 4L, 5L, 6L, 7L);
            });
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void everyReplySurvivesInBothFormats(PayloadFormat format) {
    var blocks =
        List.of(
            new StoredBlock(new SequenceHash(-1), new BlockHash(Long.MIN_VALUE)),
            new StoredBlock(new SequenceHash(1), new BlockHash(2)));
    var events =
        List.of(
            new RankEvent(RANK, new KvEvent.Stored(-2, new SequenceHash(-3), blocks)),
            new RankEvent(RANK, new KvEvent.Removed(5, List.of(new SequenceHash(-9)))),
            new RankEvent(RANK, new KvEvent.Cleared(6)));
    for (var reply :
        List.of(
            new KvReply.Events(events, 6),
            new KvReply.TreeDump(events, -1),
            new KvReply.TreeDumpFailed(4, "too large"),
            new KvReply.TooNew(9, 8, 7),
            new KvReply.InvalidRange(5, 2),
            new KvReply.Refused("why"))) {
      var bytes = codec.encodeItem(reply, format);
      assertThat(codec.decodeItem(ByteBuffer.wrap(bytes), format)).isEqualTo(reply);
    }
  }

  @Test
  void aPlainItemIsFoundInAJsonFrame() {
    var form = codec.itemForm();
    var reply = new KvReply.Refused("why");
    var frame =
        new String(ResponseEnvelope.head(form, PayloadFormat.JSON), StandardCharsets.UTF_8)
            + new String(codec.encodeItem(reply, PayloadFormat.JSON), StandardCharsets.UTF_8)
            + new String(ResponseEnvelope.tail(form, PayloadFormat.JSON), StandardCharsets.UTF_8);
    assertThat(frame).isEqualTo("{\"data\":{\"Error\":\"why\"},\"complete_final\":false}");
    var body = ByteBuffer.wrap(frame.getBytes(StandardCharsets.UTF_8));
    var item = ResponseEnvelope.read(body, form, PayloadFormat.JSON).item();
    assertThat(item).isNotNull();
    if (item != null) {
      assertThat(codec.decodeItem(item, PayloadFormat.JSON)).isEqualTo(reply);
    }
  }

  @Test
  void aMinimalQueryIsRead() {
    var json = "{\"later\":[1],\"dp_rank\":3,\"worker_id\":18446744073709551615}";
    assertThat(
            codec.decodeRequest(
                ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8)), PayloadFormat.JSON))
        .isEqualTo(new KvQuery(new WorkerRank(new InstanceId(-1), 3), null, null, false));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"worker_id\":1}",
        "{\"dp_rank\":1}",
        "{\"worker_id\":-1,\"dp_rank\":1}",
        "{\"worker_id\":1,\"dp_rank\":1,\"kind\":\"status\"}",
        "[]"
      })
  void malformedRecoveryQueriesAreRefused(String json) {
    var body = ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> codec.decodeRequest(body, PayloadFormat.JSON))
        .isInstanceOf(InvalidRequestException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"Later\":1}", "{\"Events\":{\"events\":[]}}", "{\"TooNew\":{}}"})
  void malformedRepliesAreRefused(String json) {
    var body = ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> codec.decodeItem(body, PayloadFormat.JSON))
        .isInstanceOf(InvalidRequestException.class);
  }
}
