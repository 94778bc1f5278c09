package io.dynamo.transfer.nixl;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.transfer.nixl.RdmaMetadata.SerializedDescriptor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares metadata with recordings of {@code dynamo.nixl_connect} 1.6.1 and NIXL 1.5.1. */
class RdmaMetadataTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden/nixl");
  private static final int MOST = RdmaMetadata.MAX_AGENT_BYTES;

  /** Texts that the original accepts and that mean nothing, or that only its library converts. */
  private static final Set<String> REFUSED_HERE =
      Set.of(
          "{\"operation_kind\":3}",
          "{\"operation_kind\":\"1\"}",
          "{\"operation_kind\":1.0}",
          "{\"operation_kind\":true}",
          "{\"operation_kind\":2,\"operation_kind\":1}",
          "{\"descriptors\":[{\"device\":\"cpu\",\"ptr\":-1,\"size\":1}],\"operation_kind\":2}",
          "{\"descriptors\":[{\"device\":\"cpu\",\"ptr\":\"1\",\"size\":1}],\"operation_kind\":2}",
          "{\"descriptors\":[{\"device\":\"cpu\",\"size\":1}],\"operation_kind\":2}",
          "cuda:-1",
          "cuda:1:2");

  static Stream<JsonObject> texts() throws IOException {
    return rows("parsed.jsonl");
  }

  static Stream<JsonObject> devices() throws IOException {
    return rows("devices.jsonl");
  }

  private static Stream<JsonObject> rows(String file) throws IOException {
    return Files.readAllLines(GOLDEN.resolve(file)).stream()
        .map(line -> Json.readObject(line.getBytes(UTF_8)));
  }

  @ParameterizedTest
  @MethodSource("texts")
  void textsAreReadAndWrittenAsTheOriginalDoes(JsonObject row) {
    var text = row.text("text");
    if (row.optionalText("json") == null || REFUSED_HERE.contains(text)) {
      assertThatIllegalArgumentException().isThrownBy(() -> RdmaMetadata.of(text.getBytes(UTF_8)));
    } else {
      assertThat(RdmaMetadata.of(text.getBytes(UTF_8)).toJson())
          .asString(UTF_8)
          .isEqualTo(row.text("json"));
    }
  }

  @ParameterizedTest
  @MethodSource("devices")
  void devicesAreReadAsTheOriginalDoes(JsonObject row) {
    var text = row.text("text");
    if (row.optionalText("device") == null || REFUSED_HERE.contains(text)) {
      assertThatIllegalArgumentException().isThrownBy(() -> Device.of(text));
    } else {
      assertThat(Device.of(text)).hasToString(row.text("device"));
    }
  }

  @ParameterizedTest
  @CsvSource({"readable, 2, READ", "writable-hex, 1, WRITE"})
  void recordedOffersAreReadAndWrittenUnchanged(String name, int descriptors, OperationKind kind)
      throws IOException {
    var json = Files.readAllBytes(GOLDEN.resolve(name + ".json"));
    var agent = Files.readAllBytes(GOLDEN.resolve(name + ".agent.bin"));
    var metadata = RdmaMetadata.of(json);
    assertThat(metadata.toJson()).isEqualTo(json);
    assertThat(metadata.operationKind()).isEqualTo(kind);
    assertThat(metadata.descriptors()).hasSize(descriptors);
    assertThat(AgentText.read(metadata.nixlMetadata(), MOST)).isEqualTo(agent);
    var description = AgentDescription.of(agent);
    assertThat(description.name()).isEqualTo("recorded-1");
    assertThat(description.backends()).containsExactly("UCX");
  }

  @Test
  void agentsAreWrittenAsTheOriginalWritesThem() throws IOException {
    var agent = Files.readAllBytes(GOLDEN.resolve("readable.agent.bin"));
    var text = AgentText.write(agent);
    assertThat(text).startsWith("b64:eJ"); // zlib's header for its level 6
    assertThat(AgentText.read(text, MOST)).isEqualTo(agent);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "b64:", "b64:####", "b64:AAAA", "xyz", "abc", "789c", "b64:eJw=", "dkv1:AAAA"})
  void textsThatAreNoAgentsAreRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> AgentText.read(text, MOST));
  }

  @Test
  void aSmallTextCannotBecomeMuchMemory() throws IOException {
    var packed = new ByteArrayOutputStream();
    try (var deflater = new DeflaterOutputStream(packed)) {
      deflater.write(new byte[1001]);
    }
    var hex = HexFormat.of().formatHex(packed.toByteArray());
    var base64 = "b64:" + Base64.getEncoder().encodeToString(packed.toByteArray());
    for (var text : List.of(hex, base64)) {
      assertThat(AgentText.read(text, 1001)).hasSize(1001);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> AgentText.read(text, 1000))
          .withMessageContaining("more than 1000 bytes");
    }
  }

  @Test
  void damagedAgentsAreRefusedOrReadButNeverFailOtherwise() throws IOException {
    var agent = Files.readAllBytes(GOLDEN.resolve("readable.agent.bin"));
    var random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      var damaged = Arrays.copyOf(agent, i % 2 == 0 ? agent.length : random.nextInt(agent.length));
      if (damaged.length > 0) {
        damaged[random.nextInt(Math.min(damaged.length, 60))] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        assertThat(AgentDescription.of(damaged).name()).isNotEmpty();
      } catch (IllegalArgumentException refused) {
        assertThat(refused).hasMessageContaining("nixl_metadata");
      }
    }
  }

  @Test
  void memoryPastTheEndOfAddressesIsRefused() {
    var json =
        "{\"descriptors\":[{\"device\":\"cpu\",\"ptr\":18446744073709551615,\"size\":2}],\"operation_kind\":1}";
    assertThatIllegalArgumentException().isThrownBy(() -> RdmaMetadata.of(json.getBytes(UTF_8)));
  }

  @Test
  void tooManyDescriptorsAreRefused() {
    var one = "{\"device\":\"cpu\",\"ptr\":1,\"size\":1}";
    var json =
        "{\"descriptors\":["
            + (one + ",").repeat(RdmaMetadata.MAX_DESCRIPTORS)
            + one
            + "],\"operation_kind\":1}";
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RdmaMetadata.of(json.getBytes(UTF_8)))
        .withMessageContaining("more than 65536 descriptors");
  }

  @Test
  void theTextOfAnOfferKeepsItsSecrets() {
    var offer =
        new RdmaMetadata(
            List.of(new SerializedDescriptor("cpu", 4711, 5)),
            "b64:secret",
            "key",
            OperationKind.READ);
    assertThat(offer.toString()).doesNotContain("secret", "key", "4711");
  }
}
