package io.dynamo.wire.generate;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Golden;
import io.dynamo.wire.request.ResponseEnvelope;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Against the bytes of Dynamo 1.6.1. */
class GenerateCodecGoldenTest {
  private final GenerateCodec codec = new GenerateCodec();

  @ParameterizedTest
  @CsvSource({
    "chat-stream, MSGPACK",
    "chat-unary-second, MSGPACK",
    "chat-no-max-tokens, MSGPACK",
    "completions, MSGPACK",
    "migration-first, MSGPACK",
    "migration-second, MSGPACK",
    "traceparent, MSGPACK",
    "disagg-prefill, MSGPACK",
    "disagg-decode, MSGPACK",
    "quic-response-plane, MSGPACK",
    "frontend-json-codec, JSON"
  })
  void aCapturedRequestIsWrittenAgainByteForByte(String name, PayloadFormat format) {
    byte[] body = Golden.request(name).payload().body();
    var request = codec.decodeRequest(ByteBuffer.wrap(body), format);
    assertThat(codec.encodeRequest(request, format)).isEqualTo(body);
  }

  @Test
  void theChatRequestMeansWhatWasAsked() {
    byte[] body = Golden.request("chat-stream").payload().body();
    var request = codec.decodeRequest(ByteBuffer.wrap(body), PayloadFormat.MSGPACK);
    assertThat(request.model()).isEqualTo("tiny");
    assertThat(request.tokenIds()).hasSize(40).startsWith(2, 3016, 203).endsWith(3085, 203);
    assertThat(request.stop())
        .isEqualTo(new StopConditions(4, List.of(), List.of(), null, false).withHidden(List.of(3)));
    assertThat(request.sampling()).isEqualTo(SamplingOptions.DEFAULTS);
    assertThat(request.output()).isEqualTo(OutputOptions.DEFAULTS);
    assertThat(request.eosTokenIds()).containsExactly(3);
    assertThat(request.cardChecksum())
        .isEqualTo("370c0b31ac0d81fd5755deadc865e4cbd1635ad1703cc7bd4a9a230de53d594f");
    assertThat(request.routing()).isEqualTo(new RoutingHints(0));
    assertThat(request.extraArgs())
        .isEqualTo(Map.of("nvext", Map.of("extra_fields", List.of("worker_id", "timing"))));
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void fieldsThatArePassedOnAreWrittenAndReadAgain(PayloadFormat format) {
    var request =
        decoded("migration-first")
            .passing("image_cache_scope", "s1")
            .passing("require_reasoning", true);
    var read = codec.decodeRequest(ByteBuffer.wrap(codec.encodeRequest(request, format)), format);
    assertThat(read.passedOn()).isEqualTo(request.passedOn());
  }

  /** The map's size would be wrong with them. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "no_such_field",
        "model",
        "token_ids",
        "stop_conditions",
        "sampling_options",
        "output_options",
        "eos_token_ids",
        "mdc_sum",
        "annotations",
        "routing",
        "prefill_result",
        "bootstrap_info",
        "extra_args"
      })
  void fieldsThatAreNotPassedOnAreRefused(String name) {
    var request = decoded("migration-first").passing(name, 1);
    assertThatThrownBy(() -> codec.encodeRequest(request, PayloadFormat.MSGPACK))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name);
  }

  @Test
  void aMinimalHandWrittenRequestIsRead() {
    byte[] body = Golden.request("generate-json").payload().body();
    var request = codec.decodeRequest(ByteBuffer.wrap(body), PayloadFormat.JSON);
    assertThat(request.tokenIds()).hasSize(40);
    assertThat(request.stop()).isEqualTo(new StopConditions(3, List.of(), List.of(), null, true));
    assertThat(request.routing()).isEqualTo(RoutingHints.NONE);
  }

  @Test
  void theTwoHalvesOfADisaggregatedRequestMeetAtOnePlace() {
    var prefill = decoded("disagg-prefill");
    var decode = decoded("disagg-decode");
    assertThat(prefill.handoff()).isEqualTo(decode.handoff());
    assertThat(decode.handoff().bootstrap())
        .isEqualTo(
            new Handoff.Bootstrap(
                "127.0.0.1",
                18190,
                0x6e2cf3dff17dfe54L,
                UUID.fromString("7ce482cf-0ad9-408f-ad41-87946c3c2862")));
    assertThat(decode.routing().rank()).isEqualTo(1);
    assertThat(decode.routing().passedOn().fields())
        .isEqualTo(Map.of("prefill_worker_id", 0x70900c00f2d316eaL, "prefill_dp_rank", 0L));
    assertThat(decode.passedOn().get("router_config_override"))
        .asInstanceOf(InstanceOfAssertFactories.MAP)
        .containsEntry("overlap_score_credit", 0.0)
        .containsEntry("assume_kv_reuse", false);
  }

  private GenerateRequest decoded(String name) {
    return codec.decodeRequest(
        ByteBuffer.wrap(Golden.request(name).payload().body()), PayloadFormat.MSGPACK);
  }

  /** The request of a 1.6.1 frontend when a client used most options. */
  @ParameterizedTest
  @ValueSource(strings = {"chat-options", "completions-options"})
  void aRequestWithManyOptionsKeepsThemAll(String name) {
    byte[] json = Golden.bytes("request-values/" + name + ".json");
    var request = codec.decodeRequest(ByteBuffer.wrap(json), PayloadFormat.JSON);
    for (var format : PayloadFormat.values()) {
      var again =
          codec.decodeRequest(ByteBuffer.wrap(codec.encodeRequest(request, format)), format);
      assertThat(new String(codec.encodeRequest(again, PayloadFormat.JSON), UTF_8))
          .isEqualTo(new String(json, UTF_8).strip());
    }
  }

  @Test
  void theIdsOfTheClientAndOfTheModelAreToldApart() {
    var stop =
        codec
            .decodeRequest(
                ByteBuffer.wrap(Golden.bytes("request-values/chat-options.json")),
                PayloadFormat.JSON)
            .stop();
    assertThat(stop.stopTokenIds()).containsExactly(5, 6);
    assertThat(stop.hiddenStopTokenIds()).containsExactly(4089, 4087);
    assertThat(stop.endTokenIds()).containsExactly(5, 6, 4089, 4087);
  }

  @Test
  void aMeetingPointKeepsItsUnsignedRoomAndItsIdInBothFormats() {
    var handoff =
        new Handoff(
            new Handoff.PrefillResult(Map.of("k", new byte[] {1, 2}), null),
            new Handoff.Bootstrap("10.0.0.1", 65535, -2L, new UUID(1, -1)));
    var request = decoded("chat-stream").withHandoff(handoff);
    for (var format : PayloadFormat.values()) {
      var copy = codec.decodeRequest(ByteBuffer.wrap(codec.encodeRequest(request, format)), format);
      assertThat(copy.handoff().bootstrap()).isEqualTo(handoff.bootstrap());
    }
    assertThat(new String(codec.encodeRequest(request, PayloadFormat.JSON), UTF_8))
        .contains("\"bootstrap_room\":18446744073709551614")
        .contains("\"handoff_id\":\"00000000-0000-0001-ffff-ffffffffffff\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"bootstrap_host\":\"h\",\"bootstrap_port\":1}",
        "{\"bootstrap_host\":\"h\",\"bootstrap_port\":65536,\"bootstrap_room\":1}",
        "{\"bootstrap_host\":\"h\",\"bootstrap_port\":1,\"bootstrap_room\":-1}",
        "{\"bootstrap_host\":\"h\",\"bootstrap_port\":1,\"bootstrap_room\":1,\"handoff_id\":\"x\"}"
      })
  void aMeetingPointThatIsNoneIsRefused(String bootstrap) {
    var body = json("{\"token_ids\":[1],\"bootstrap_info\":" + bootstrap + "}");
    assertThatThrownBy(() -> codec.decodeRequest(body, PayloadFormat.JSON))
        .isInstanceOf(InvalidRequestException.class);
  }

  @Test
  void aPrefillWorkersParametersSurvive() {
    byte[] body = Golden.bodies("disagg-prefill.w2f.bin").getFirst();
    var envelope = ResponseEnvelope.read(ByteBuffer.wrap(body), PayloadFormat.MSGPACK);
    var item = codec.decodeItem(item(envelope), PayloadFormat.MSGPACK);
    assertThat(item.passedOn().get("disaggregated_params")).isEqualTo("dummy");
    assertThat(framed(codec.encodeItem(item, PayloadFormat.MSGPACK), PayloadFormat.MSGPACK))
        .isEqualTo(body);
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void engineFieldsOfAnItemSurviveARoundTrip(PayloadFormat format) {
    var text =
        "{\"token_ids\":[7],\"tokens\":[\"a\"],\"text\":\"a\",\"output_type\":\"audio\","
            + "\"content_parts\":[{\"type\":\"text\"}],\"cum_log_probs\":-1.5,"
            + "\"log_probs\":[-0.25],\"top_logprobs\":[[{\"rank\":1,\"token_id\":7,"
            + "\"token\":\"a\",\"logprob\":-0.25,\"bytes\":[97]},{\"rank\":2,\"token_id\":8,"
            + "\"token\":null,\"logprob\":-2.0}]],\"finish_reason\":\"stop\","
            + "\"stop_reason\":\"END\",\"index\":1,\"disaggregated_params\":{\"k\":[1]},"
            + "\"extra_args\":{\"kv_transfer_params\":{\"a\":null}},\"engine_data\":[1],"
            + "\"routing_data\":{\"token_ids\":[1]}}";
    var item = codec.decodeItem(json(text), PayloadFormat.JSON);
    var copy = codec.decodeItem(ByteBuffer.wrap(codec.encodeItem(item, format)), format);
    assertThat(new String(codec.encodeItem(copy, PayloadFormat.JSON), UTF_8)).isEqualTo(text);
    assertThat(item.stopReason()).isEqualTo(new StopReason.Text("END"));
  }

  @Test
  void aStopTokenIsToldByItsId() {
    var item = codec.decodeItem(json("{\"token_ids\":[],\"stop_reason\":9}"), PayloadFormat.JSON);
    assertThat(item.stopReason()).isEqualTo(new StopReason.Token(9));
  }

  @ParameterizedTest
  @CsvSource({
    "chat-stream.w2f.bin, MSGPACK, 5",
    "completions.w2f.bin, MSGPACK, 3",
    "chat-cancelled.w2f.head.bin, MSGPACK, 4",
    "chat-drained.w2f.head.bin, MSGPACK, 4",
    "frontend-json-codec.w2f.bin, JSON, 5",
    "generate-json.w2f.bin, JSON, 4"
  })
  void capturedItemsAreWrittenAgainByteForByte(String name, PayloadFormat format, int count) {
    int items = 0;
    for (byte[] body : Golden.bodies(name)) {
      var envelope = ResponseEnvelope.read(ByteBuffer.wrap(body), format);
      if (envelope.complete()) {
        assertThat(body).isEqualTo(ResponseEnvelope.end(format));
      } else {
        var bytes = envelope.item();
        assertThat(bytes).isNotNull();
        if (bytes != null) {
          var item = codec.decodeItem(bytes, format);
          assertThat(framed(codec.encodeItem(item, format), format)).isEqualTo(body);
          items++;
        }
      }
    }
    assertThat(items).isEqualTo(count);
  }

  @Test
  void theChatAnswerMeansWhatWasGenerated() {
    var items =
        Golden.bodies("chat-stream.w2f.bin").stream()
            .map(body -> ResponseEnvelope.read(ByteBuffer.wrap(body), PayloadFormat.MSGPACK))
            .filter(envelope -> envelope.item() != null)
            .map(envelope -> codec.decodeItem(item(envelope), PayloadFormat.MSGPACK))
            .toList();
    assertThat(items).flatExtracting(item -> List.of(box(item.tokenIds()))).hasSize(4);
    assertThat(items.getFirst().usage()).isEqualTo(new Usage(40, 1, 0));
    assertThat(items.getLast().finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(items.getLast().usage()).isEqualTo(new Usage(40, 4, 0));
  }

  @Test
  void unknownFieldsArePassedOver() {
    var item =
        codec.decodeItem(json("{\"token_ids\":[1],\"novel\":{\"a\":[1]}}"), PayloadFormat.JSON);
    assertThat(item).usingRecursiveComparison().isEqualTo(EngineOutput.ofTokens(1));
    var request =
        codec.decodeRequest(json("{\"token_ids\":[1],\"novel\":[{}]}"), PayloadFormat.JSON);
    assertThat(request.passedOn().isEmpty()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void everyFieldOfARequestSurvives(PayloadFormat format) {
    var request =
        new GenerateRequest(
            "m",
            new int[] {0, 127, 128, 65536, Integer.MAX_VALUE},
            new StopConditions(7, List.of("\n\n", "é"), List.of(1, 2), 3, true),
            new SamplingOptions(2, 0.7f, 0.95f, 40, 0.05f, 0.1f, -0.2f, 1.1f, 42L),
            new OutputOptions(5, false),
            new int[] {1, 2},
            "abc",
            List.of("a", "b"),
            new RoutingHints(3),
            Map.of("k", List.of(1L, 2.5, "x", true)));
    var copy = codec.decodeRequest(ByteBuffer.wrap(codec.encodeRequest(request, format)), format);
    assertThat(copy).usingRecursiveComparison().ignoringFields("extraArgs").isEqualTo(request);
    assertThat(codec.encodeRequest(copy, format)).isEqualTo(codec.encodeRequest(request, format));
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void everyFieldOfAnItemSurvives(PayloadFormat format) {
    var item =
        new EngineOutput(
            new int[] {1, 2}, "héllo", FinishReason.ERROR, "boom", 2, new Usage(1, 2, null));
    var copy = codec.decodeItem(ByteBuffer.wrap(codec.encodeItem(item, format)), format);
    assertThat(copy).usingRecursiveComparison().isEqualTo(item);
  }

  @Test
  void samplingNumbersAreSinglePrecision() {
    var request =
        codec.decodeRequest(
            json("{\"token_ids\":[1],\"sampling_options\":{\"temperature\":0.7}}"),
            PayloadFormat.JSON);
    assertThat(request.sampling().temperature()).isEqualTo(0.7f);
    var packed = codec.encodeRequest(request, PayloadFormat.MSGPACK);
    assertThat(packed).containsSequence(0xca, 0x3f, 0x33, 0x33, 0x33);
  }

  @ParameterizedTest
  @CsvSource({"abort, CANCELLED", "cancelled, CANCELLED", "eos, EOS", "error: x, ERROR"})
  void finishReasonsOfAllReleasesAreRead(String text, FinishReason reason) {
    var item =
        codec.decodeItem(
            json("{\"token_ids\":[],\"finish_reason\":\"" + text + "\"}"), PayloadFormat.JSON);
    assertThat(item.finishReason()).isEqualTo(reason);
  }

  @Test
  void everyTruncationOfARequestIsRefused() {
    byte[] body = Golden.request("chat-stream").payload().body();
    for (int length = 0; length < body.length; length++) {
      var part = ByteBuffer.wrap(body, 0, length);
      assertThatThrownBy(() -> codec.decodeRequest(part, PayloadFormat.MSGPACK))
          .as("the first %d bytes", length)
          .isInstanceOf(InvalidRequestException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void garbageIsRefusedWithoutHarm(long seed) {
    var random = new Random(seed);
    byte[] good = Golden.request("chat-stream").payload().body();
    for (int i = 0; i < 2_000; i++) {
      byte[] bad = good.clone();
      for (int k = 0; k < 3; k++) {
        bad[random.nextInt(bad.length)] = (byte) random.nextInt();
      }
      try {
        codec.decodeRequest(ByteBuffer.wrap(bad), PayloadFormat.MSGPACK);
      } catch (InvalidRequestException expected) {
        assertThat(expected.code().httpStatus()).isEqualTo(400);
      }
    }
  }

  @Test
  void anAnnouncedSizeBeyondTheBytesIsRefusedBeforeItIsAllocated() {
    byte[] huge = {
      (byte) 0x81,
      (byte) 0xa9,
      't',
      'o',
      'k',
      'e',
      'n',
      '_',
      'i',
      'd',
      's',
      (byte) 0xdd,
      0x7f,
      (byte) 0xff,
      (byte) 0xff,
      (byte) 0xff
    };
    assertThatThrownBy(() -> codec.decodeItem(ByteBuffer.wrap(huge), PayloadFormat.MSGPACK))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("do not fit");
  }

  private static ByteBuffer json(String text) {
    return ByteBuffer.wrap(text.getBytes(UTF_8));
  }

  private static ByteBuffer item(ResponseEnvelope envelope) {
    var item = envelope.item();
    if (item == null) {
      throw new AssertionError("no item");
    }
    return item;
  }

  private static Integer[] box(int[] values) {
    return Arrays.stream(values).boxed().toArray(Integer[]::new);
  }

  static byte[] framed(byte[] item, PayloadFormat format) {
    byte[] head = ResponseEnvelope.head(format);
    byte[] tail = ResponseEnvelope.tail(format);
    return ByteBuffer.allocate(head.length + item.length + tail.length)
        .put(head)
        .put(item)
        .put(tail)
        .array();
  }
}
