package io.dynamo.wire.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.token.BlockHashes;
import io.dynamo.wire.Golden;
import io.dynamo.wire.ItemForm;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class KvIndexCodecGoldenTest {
  private static final WorkerRank RANK =
      new WorkerRank(InstanceId.ofHex("1d80b9ff7592a8cb"), 0); // the captured worker

  private final KvIndexCodec codec = new KvIndexCodec();

  private static byte[] golden(String name) {
    return Golden.bytes("kv-indexer/" + name + ".msgpack");
  }

  @Test
  void aCapturedQueryIsWrittenAgainByteForByte() {
    var query =
        codec.decodeRequest(ByteBuffer.wrap(golden("query.request")), PayloadFormat.MSGPACK);
    assertThat(query.model()).isEqualTo("tiny");
    assertThat(query.deviceOnly()).isFalse();
    assertThat(query.prompt().length()).isEqualTo(9);
    assertThat(Long.toUnsignedString(query.prompt().block(0))).isEqualTo("17851617259670680944");
    assertThat(codec.encodeRequest(query, PayloadFormat.MSGPACK))
        .isEqualTo(golden("query.request"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"all-tiers", "device-only", "none", "empty", "other-model"})
  void capturedRepliesAreWrittenAgainByteForByte(String name) {
    var bytes = golden(name + ".response");
    var reply = codec.decodeItem(ByteBuffer.wrap(bytes), PayloadFormat.MSGPACK);
    assertThat(codec.encodeItem(reply, PayloadFormat.MSGPACK)).isEqualTo(bytes);
  }

  @Test
  void capturedRepliesSayWhoHoldsWhat() {
    assertThat(reply("all-tiers"))
        .isEqualTo(
            new KvIndexReply.Scores(List.of(new KvIndexReply.RankOverlap(RANK, 9)), Map.of()));
    assertThat(reply("device-only"))
        .isEqualTo(
            new KvIndexReply.Scores(List.of(new KvIndexReply.RankOverlap(RANK, 3)), Map.of()));
    assertThat(reply("none")).isEqualTo(new KvIndexReply.Scores(List.of(), Map.of()));
    assertThat(reply("other-model"))
        .isEqualTo(new KvIndexReply.Refused("served indexer model nope is not registered"));
    assertThat(codec.itemForm()).isEqualTo(ItemForm.PLAIN);
  }

  private KvIndexReply reply(String name) {
    return codec.decodeItem(ByteBuffer.wrap(golden(name + ".response")), PayloadFormat.MSGPACK);
  }

  @ParameterizedTest
  @EnumSource
  void lowerTiersComeBack(PayloadFormat format) {
    var reply =
        new KvIndexReply.Scores(
            List.of(new KvIndexReply.RankOverlap(RANK, 3)),
            Map.of(
                StorageTier.HOST_PINNED, List.of(new KvIndexReply.RankOverlap(RANK, 2)),
                StorageTier.DISK, List.of(),
                StorageTier.EXTERNAL, List.of(new KvIndexReply.RankOverlap(RANK, 1))));
    var bytes = codec.encodeItem(reply, format);
    assertThat(codec.decodeItem(ByteBuffer.wrap(bytes), format)).isEqualTo(reply);
    if (format == PayloadFormat.JSON) {
      assertThat(new String(bytes, StandardCharsets.UTF_8))
          .contains(
              "\"lower_tier\":[[\"host_pinned\",{\"hits\":[[{\"worker_id\":2125903530959218891,\"dp_rank\":0},2]]}],[\"disk\"");
    }
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(booleans = {true, false})
  void queriesComeBackAsJsonToo(@Nullable Boolean deviceOnly) {
    var query = new KvIndexQuery("m", BlockHashes.ofBlocks(-1, 2), deviceOnly);
    var bytes = codec.encodeRequest(query, PayloadFormat.JSON);
    assertThat(codec.decodeRequest(ByteBuffer.wrap(bytes), PayloadFormat.JSON)).isEqualTo(query);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"Other\":1}",
        "{\"Error\":\"a\",\"TieredScores\":{}}",
        "{\"TieredScores\":{\"device\":{\"scores\":[[{\"dp_rank\":0},1]]}}}",
        "{\"TieredScores\":{\"device\":{\"scores\":[[{\"worker_id\":1}]]}}}",
        "{\"TieredScores\":{\"device\":{\"scores\":[[{\"worker_id\":1},1,1]]}}}",
        "{\"TieredScores\":{\"lower_tier\":[[]]}}"
      })
  void malformedRepliesAreRefused(String text) {
    var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> codec.decodeItem(bytes, PayloadFormat.JSON));
  }

  @Test
  void aTierThatIsNotKnownIsPassedOver() {
    var text =
        "{\"TieredScores\":{\"device\":{\"scores\":[]},\"lower_tier\":[[\"tape\",{\"hits\":[]}]],\"new\":1}}";
    var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    assertThat(codec.decodeItem(bytes, PayloadFormat.JSON))
        .isEqualTo(new KvIndexReply.Scores(List.of(), Map.of()));
  }
}
