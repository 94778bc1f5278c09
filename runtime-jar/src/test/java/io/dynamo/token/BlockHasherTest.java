package io.dynamo.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class BlockHasherTest {
  private static int[] range(int from, int to) {
    return IntStream.range(from, to).toArray();
  }

  private static List<String> blocks(BlockHashes hashes) {
    return IntStream.range(0, hashes.length())
        .mapToObj(i -> Long.toUnsignedString(hashes.block(i)))
        .toList();
  }

  private static List<String> sequences(BlockHashes hashes) {
    return IntStream.range(0, hashes.length())
        .mapToObj(i -> Long.toUnsignedString(hashes.sequence(i)))
        .toList();
  }

  @Test
  void chainsTheBlocksOfOnePrompt() {
    var hashes = BlockHashes.of(range(1, 13), 4);
    assertThat(blocks(hashes))
        .containsExactly("14643705804678351452", "16777012769546811212", "483935686894639516");
    assertThat(sequences(hashes))
        .containsExactly("14643705804678351452", "4945711292740353085", "12583592247330656132");
  }

  @ParameterizedTest
  @CsvSource({
    ",,9143094415614847814,12124091508212882195,9510318385840434533",
    "'','',9143094415614847814,12124091508212882195,9510318385840434533",
    "adapter-a,,6665157333201000639,11721812545976571723,13351519314849170528",
    "lora-x,,15796974664643386200,14124025785667477462,12005440102775538347",
    ",tenant-a,17009624042690211646,10000672136415158886,18279821067719767880",
    "adapter-a,tenant-a,8269515957840517240,11937877779520612889,16913744751721653295"
  })
  void adapterAndSaltKeepBlocksApart(
      String lora, String salt, String block0, String block1, String sequence1) {
    var hashes = BlockHasher.of(4, lora, salt).hash(range(0, 8));
    assertThat(blocks(hashes)).containsExactly(block0, block1);
    assertThat(sequences(hashes)).containsExactly(block0, sequence1);
  }

  @ParameterizedTest
  @CsvSource({
    "adapter-a,,8842669519798868182",
    "lora-x,,3337752563747104441",
    "alpha-7b,,723495307357893745",
    ",tenant-a,1948188790972764086",
    "adapter-a,tenant-a,10790858310771630931"
  })
  void seedsAreDynamos(String lora, String salt, String seed) {
    assertThat(Long.toUnsignedString(BlockHasher.seed(lora, salt))).isEqualTo(seed);
  }

  @ParameterizedTest
  @CsvSource({
    "1,16451421758532862321,14426539925402682893,5478772005252122579",
    "8,12126819726423666500,9749165250595111323,12825646209309628853",
    "16,15310707395893867146,15292316782987903195,13769157705258532664",
    "32,5756925433886871916,13958166640625465031,16658382216643214443",
    "48,17528049439166767664,10810856111076465926,10000301670742198671",
    "64,3480597578098033343,3318286205056455972,2575318956255022795",
    "128,9509643624113304476,14661480810010634334,4646466054415241071",
    "256,13509048708924160886,4151855165407385122,12131640031995933197",
    "512,9967019188267418660,6535324692311332907,2546619699346978114"
  })
  void everyPathOfXxh3Agrees(int blockTokens, String block0, String block1, String sequence1) {
    var hashes = BlockHashes.of(range(0, 2 * blockTokens), blockTokens);
    assertThat(blocks(hashes)).containsExactly(block0, block1);
    assertThat(sequences(hashes)).containsExactly(block0, sequence1);
  }

  @ParameterizedTest
  @CsvSource({
    ",tenant-a,14430344014821386405,10418984973072570953",
    "adapter-a,,789237278557224185,6184596453852557784"
  })
  void theLongPathTakesTheSeedToo(String lora, String salt, String block0, String block1) {
    assertThat(blocks(BlockHasher.of(64, lora, salt).hash(range(0, 128))))
        .containsExactly(block0, block1);
  }

  @Test
  void tokenIdsAreUnsigned() {
    assertThat(blocks(BlockHashes.of(new int[] {-1, -1, -1, -1, 0, 0, 0, 0}, 4)))
        .containsExactly("12410542959481710713", "13277122834585657784");
  }

  @Test
  void anIncompleteBlockHasNoHash() {
    assertThat(BlockHashes.of(range(0, 3), 4).length()).isZero();
    assertThat(BlockHashes.of(range(0, 11), 4)).isEqualTo(BlockHashes.of(range(0, 8), 4));
  }

  @Test
  void aBlockNeedsAToken() {
    assertThatIllegalArgumentException().isThrownBy(() -> BlockHasher.of(0));
  }

  record Recorded(
      int blockTokens,
      String lora,
      String salt,
      boolean eagle,
      int[] tokens,
      List<long[]> media,
      List<String> blocks,
      List<String> sequences) {
    BlockHasher hasher() {
      var plain = BlockHasher.of(blockTokens, lora, salt);
      return eagle ? plain.eagle() : plain;
    }

    @Override
    public String toString() {
      return tokens.length + " tokens by " + blockTokens + ", lora " + lora + ", salt " + salt;
    }
  }

  static List<Recorded> recorded() throws IOException {
    try (var in = BlockHasherTest.class.getResourceAsStream("/golden/router/hash.json")) {
      var cases = new ArrayList<Recorded>();
      for (var it : new ObjectMapper().readTree(in).path("cases")) {
        cases.add(
            new Recorded(
                it.path("block_size").intValue(),
                it.path("lora_name").asText(null),
                it.path("cache_salt").asText(null),
                it.path("is_eagle").asBoolean(),
                tokens(it.path("tokens")),
                media(it.path("mm_hashes_per_block")),
                strings(it.path("local_hashes")),
                strings(it.path("sequence_hashes"))));
      }
      return cases;
    }
  }

  static int[] tokens(JsonNode array) {
    var tokens = new int[array.size()];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (int) array.get(i).longValue();
    }
    return tokens;
  }

  static List<long[]> media(JsonNode blocks) {
    var media = new ArrayList<long[]>();
    for (var block : blocks) {
      media.add(strings(block).stream().mapToLong(Long::parseUnsignedLong).toArray());
    }
    return media;
  }

  static List<String> strings(JsonNode array) {
    var texts = new ArrayList<String>();
    array.forEach(text -> texts.add(text.asText()));
    return texts;
  }

  @Test
  void theRecordingIsWhole() throws IOException {
    assertThat(recorded()).hasSize(166);
    assertThat(recorded()).filteredOn(Recorded::eagle).hasSize(18);
    assertThat(recorded()).filteredOn(it -> !it.media().isEmpty()).hasSize(31);
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void agreesWithTheRecordedRelease(Recorded it) {
    var hashes = it.hasher().hash(it.tokens, it.media);
    assertThat(blocks(hashes)).isEqualTo(it.blocks);
    assertThat(sequences(hashes)).isEqualTo(it.sequences);
  }

  static List<Recorded> recordedText() throws IOException {
    return recorded().stream().filter(it -> it.media.isEmpty()).toList();
  }

  @ParameterizedTest
  @MethodSource("recordedText")
  void aGrowingSequenceHashesLikeAWholeOne(Recorded it) {
    var sequence = new SequenceHasher(it.hasher());
    assertThat(sequence.append(it.tokens)).isEqualTo(it.blocks.size());
    assertThat(sequence.tokens()).isEqualTo(it.tokens.length);
    for (int i = 0; i < sequence.length(); i++) {
      assertThat(Long.toUnsignedString(sequence.block(i))).isEqualTo(it.blocks.get(i));
      assertThat(Long.toUnsignedString(sequence.sequence(i))).isEqualTo(it.sequences.get(i));
    }
  }
}
