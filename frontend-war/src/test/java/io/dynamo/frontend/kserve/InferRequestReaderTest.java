package io.dynamo.frontend.kserve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import io.dynamo.inference.tensor.WantedOutput;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages that protobuf's own library wrote, and hostile ones. */
class InferRequestReaderTest {
  private static final int MOST = 100;

  private static InferRequest read(String text) {
    return InferRequestReader.read(Published.encode("ModelInferRequest", text));
  }

  private static void assertRefused(ThrowingCallable reading, String words) {
    assertThatThrownBy(reading)
        .isInstanceOfSatisfying(
            ApiException.class,
            refused -> {
              assertThat(refused.error().status()).isEqualTo(400);
              assertThat(refused.error().message()).contains(words);
            });
  }

  private static TensorData data(String tensor) {
    var input = read("inputs { name: 'x' " + tensor + " }").inputs().getFirst();
    var type = TensorType.named(input.datatype());
    assertThat(type).isNotNull();
    return input.read(type == null ? TensorType.BYTES : type, MOST);
  }

  @Test
  void everyFieldOfARequestIsRead() {
    var request =
        read(
            """
            model_name: 'm' model_version: '1' id: 'abc'
            parameters { key: 'b' value { bool_param: true } }
            parameters { key: 'i' value { int64_param: -3 } }
            parameters { key: 's' value { string_param: '' } }
            parameters { key: 'd' value { double_param: 0.0 } }
            parameters { key: 'u' value { uint64_param: 18446744073709551615 } }
            inputs { name: 'x' datatype: 'BYTES' shape: [2, -1]
              parameters { key: 'p' value { int64_param: 0 } }
              contents { bytes_contents: ['a', '\\377'] } }
            outputs { name: 'y' parameters { key: 'classification' value { int64_param: 2 } } }
            """);

    assertThat(request.model()).isEqualTo("m");
    assertThat(request.version()).isEqualTo("1");
    assertThat(request.id()).isEqualTo("abc");
    assertThat(request.raw()).isFalse();
    assertThat(request.parameters())
        .isEqualTo(
            Map.of(
                "b",
                true,
                "i",
                -3L,
                "s",
                "",
                "d",
                0.0,
                "u",
                new BigInteger("18446744073709551615")));
    var input = request.inputs().getFirst();
    assertThat(input.shape()).containsExactly(2L, -1L);
    assertThat(input.parameters()).isEqualTo(Map.of("p", 0L));
    var strings = (TensorData.Strings) input.read(TensorType.BYTES, MOST);
    assertThat(strings.text(0)).isEqualTo("a");
    assertThat(strings.text(1)).isEqualTo("�");
    assertThat(request.outputs())
        .containsExactly(new WantedOutput("y", Map.of("classification", 2L)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "BOOL   | bool_contents: [true, false]     | 01 00",
        "INT8   | int_contents: [-1, 127]          | ff 7f",
        "INT16  | int_contents: [-2, 258]          | fe ff 02 01",
        "INT32  | int_contents: [1, -2]            | 01 00 00 00 fe ff ff ff",
        "INT64  | int64_contents: [-1]             | ff ff ff ff ff ff ff ff",
        "UINT8  | uint_contents: [255]             | ff",
        "UINT16 | uint_contents: [65535]           | ff ff",
        "UINT32 | uint_contents: [4294967295]      | ff ff ff ff",
        "UINT64 | uint64_contents: [18446744073709551615] | ff ff ff ff ff ff ff ff",
        "FP32   | fp32_contents: [1.5]             | 00 00 c0 3f",
        "FP64   | fp64_contents: [1.5]             | 00 00 00 00 00 00 f8 3f",
      })
  void typedContentsBecomeTheBytesOfRawOnes(String type, String contents, String bytes) {
    var numbers =
        (TensorData.Numbers) data("datatype: '%s' contents { %s }".formatted(type, contents));

    var hex = new StringBuilder();
    for (var all = numbers.bytes(); all.hasRemaining(); ) {
      hex.append(hex.isEmpty() ? "" : " ").append("%02x".formatted(all.get() & 0xff));
    }
    assertThat(hex.toString()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "INT8   | int_contents: [300]     | 300 is not between -128 and 127",
        "INT16  | int_contents: [-40000]  | -40000 is not between",
        "UINT8  | uint_contents: [256]    | 256 is not between 0 and 255",
        "UINT16 | uint_contents: [65536]  | 65536 is not between",
        "FP16   | fp32_contents: [1]      | must be sent via `raw_input_contents`",
        "BF16   | fp32_contents: [1]      | must be sent via `raw_input_contents`",
      })
  void valuesThatATypeDoesNotHaveAreRefused(String type, String contents, String words) {
    assertRefused(() -> data("datatype: '%s' contents { %s }".formatted(type, contents)), words);
  }

  @Test
  void contentsOfAnotherTypeAreNoElements() {
    assertThat(data("datatype: 'INT32' contents { fp32_contents: [1] }").count()).isZero();
    assertThat(data("datatype: 'BYTES' contents { fp32_contents: [1] }").count()).isZero();
  }

  @Test
  void rawContentsBelongToTheInputsInTheirOrder() {
    var request =
        read(
            """
            inputs { name: 'a' datatype: 'INT16' } inputs { name: 'b' datatype: 'BYTES' }
            raw_input_contents: '\\001\\000\\002\\000'
            raw_input_contents: '\\002\\000\\000\\000ab\\000\\000\\000\\000'
            """);

    assertThat(request.raw()).isTrue();
    var numbers = (TensorData.Numbers) request.inputs().get(0).read(TensorType.INT16, MOST);
    assertThat(numbers.count()).isEqualTo(2);
    assertThat(numbers.bytes().getShort(2)).isEqualTo((short) 2);
    var strings = (TensorData.Strings) request.inputs().get(1).read(TensorType.BYTES, MOST);
    assertThat(List.of(strings.text(0), strings.text(1))).containsExactly("ab", "");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "INT32 | \\001\\000\\000          | must be a multiple of 4",
        "BYTES | \\001\\000               | must be length-prefixed (>= 4 bytes)",
        "BYTES | \\002\\000\\000\\000a    | length exceeds raw input size",
        "BYTES | \\377\\377\\377\\377a    | length exceeds raw input size: 4294967295 of 1",
      })
  void rawContentsThatDoNotFitAreRefused(String type, String raw, String words) {
    assertRefused(
        () ->
            read("inputs { name: 'x' } raw_input_contents: '" + raw + "'")
                .inputs()
                .getFirst()
                .read(TensorType.valueOf(type), MOST),
        words);
  }

  @Test
  void rawAndTypedContentsAreNotMixed() {
    assertRefused(
        () -> read("inputs { name: 'a' } inputs { name: 'b' } raw_input_contents: 'x'"),
        "must be used for all inputs");
    assertRefused(
        () -> read("inputs { name: 'a' contents { bytes_contents: 'x' } } raw_input_contents: 'x'"),
        "has contents beside");
    assertRefused(
        () -> read("inputs { name: 'a' }").inputs().getFirst().read(TensorType.BYTES, MOST),
        "Missing raw input for 'a'");
  }

  @Test
  void parametersNeedAValue() {
    assertRefused(() -> read("parameters { key: 'b' value { } }"), "Parameter 'b' has no value");
    assertRefused(() -> read("parameters { key: 'b' }"), "Parameter 'b' has no value");
  }

  @Test
  void listsAreBounded() {
    assertRefused(() -> read("inputs { } ".repeat(1025)), "more than 1024");
    assertRefused(() -> read("outputs { } ".repeat(1025)), "more than 1024");
    assertRefused(() -> read("inputs { } raw_input_contents: '' ".repeat(1025)), "more than 1024");
    assertRefused(() -> read("inputs { shape: [" + "1,".repeat(64) + "1] }"), "64 dimensions");
    var parameters = new StringBuilder();
    for (int i = 0; i <= 1024; i++) {
      parameters.append("parameters { key: '%d' value { bool_param: true } } ".formatted(i));
    }
    assertRefused(() -> read(parameters.toString()), "1024 parameters");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "BYTES | contents { bytes_contents: ['a', 'b', 'c'] }",
        "INT32 | contents { int_contents: [1, 2, 3] }",
        "BOOL  | contents { bool_contents: [true, true, true] }",
      })
  void moreElementsThanAreWantedAreRefused(String type, String contents) {
    var typed =
        read("inputs { name: 'x' datatype: '%s' %s }".formatted(type, contents))
            .inputs()
            .getFirst();
    var raw =
        read("inputs { name: 'x' } raw_input_contents: '" + "\\000".repeat(12) + "'")
            .inputs()
            .getFirst();

    for (var input : List.of(typed, raw)) {
      assertRefused(() -> input.read(TensorType.valueOf(type), 2), "'x' has more than 2 elements");
      assertRefused(() -> input.read(TensorType.valueOf(type), 1), "exactly one element");
      assertThat(input.read(TensorType.valueOf(type), 12).count()).isBetween(3, 12);
    }
  }

  @Test
  void elementsAreNotMadeBeforeTheyAreCounted() {
    var empty = // 16 million empty elements
        new InferTensor(
            "x", "BYTES", List.of(), Map.of(), new RawContents(ByteBuffer.allocate(64 << 20)));
    long before = allocated();
    assertRefused(() -> empty.read(TensorType.BYTES, 1), "exactly one element");

    assertThat(allocated() - before).isLessThan(8 << 20);
  }

  private static long allocated() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getCurrentThreadAllocatedBytes();
  }

  @Test
  void aLongerLengthThanTheMessageIsRefused() {
    var whole = Published.encode("ModelInferRequest", "model_name: 'model' id: 'some id'");

    for (int length = 1; length < whole.length; length++) {
      var cut = Arrays.copyOf(whole, length);
      try {
        assertThat(InferRequestReader.read(cut).id()).isEmpty();
      } catch (ApiException refused) {
        assertThat(refused.error().status()).isEqualTo(400);
      }
    }
  }

  @Test
  void anyBytesAreReadOrRefused() {
    var random = new Random(7);
    var seed =
        Published.encode(
            "ModelInferRequest",
            """
            model_name: 'm' id: 'abc' parameters { key: 'b' value { bool_param: true } }
            inputs { name: 'x' datatype: 'INT32' shape: [2] contents { int_contents: [1, 2] } }
            outputs { name: 'y' } raw_input_contents: 'abcdefgh'
            """);
    for (int i = 0; i < 20_000; i++) {
      var changed = seed.clone();
      for (int j = random.nextInt(4); j >= 0; j--) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt();
      }
      try {
        InferRequestReader.head(changed);
        for (var input : InferRequestReader.read(changed).inputs()) {
          for (var type : TensorType.values()) {
            readOrRefuse(input, type);
          }
        }
      } catch (ApiException refused) {
        assertThat(refused.error().status()).isEqualTo(400);
      }
    }
  }

  private static void readOrRefuse(InferTensor input, TensorType type) {
    try {
      assertThat(input.read(type, MOST).count()).isNotNegative();
    } catch (ApiException refused) {
      assertThat(refused.error().status()).isEqualTo(400);
    }
  }

  @Test
  void headOfAMessageIsReadAlone() {
    var message =
        Published.encode("ModelInferRequest", "model_name: 'm' id: 'abc' inputs { name: 'x' }");

    assertThat(InferRequestReader.head(message)).isEqualTo(new InferRequestReader.Head("m", "abc"));
  }
}
