package io.dynamo.frontend.kserve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Inputs of models that take tensors: good, against the model's description, and hostile. */
class TensorInputsTest {
  private static final ModelDescription MODEL =
      new ModelDescription(
          "m",
          List.of(
              new TensorSpec("a", TensorType.INT32, List.of(-1L, 2L), false),
              new TensorSpec("b", TensorType.BYTES, List.of(1L), true)),
          List.of());

  private static InferRequest read(String text) {
    return InferRequestReader.read(Published.encode("ModelInferRequest", text));
  }

  private static void assertRefused(ThrowingCallable checking, String words) {
    assertThatThrownBy(checking)
        .isInstanceOfSatisfying(
            ApiException.class,
            refused -> {
              assertThat(refused.error().status()).isEqualTo(400);
              assertThat(refused.error().message()).contains(words);
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "shape: [-1]                               | the dimension -1 in its shape",
        "shape: [-9223372036854775808]             | the dimension -9223372036854775808",
        "shape: [0, -1]                            | the dimension -1",
        "shape: [2147483648]                       | implies more elements than a request may hold",
        "shape: [65536, 65536]                     | implies more elements",
        "shape: [4294967296, 4294967296]           | implies more elements",
        "shape: [9223372036854775807, 3]           | implies more elements",
      })
  void shapesThatNoRequestCanFillAreRefused(String shape, String words) {
    var request = read("inputs { name: 'a' datatype: 'INT8' " + shape + " }");

    assertRefused(() -> TensorInputs.check(request), words);
  }

  @Test
  void unknownTypesAndInputsThatComeTwiceAreRefused() {
    assertRefused(
        () -> TensorInputs.check(read("inputs { name: 'a' datatype: 'INT' }")),
        "'a' has the datatype 'INT'; there are [BOOL, UINT8,");
    assertRefused(
        () -> TensorInputs.check(read("inputs { name: 'a' datatype: 'INT8' } ".repeat(2))),
        "'a' is there twice");
  }

  @Test
  void namesAreShownWithoutControlCharactersAndShortened() {
    var name = "x\\n\\033[2J" + "y".repeat(10_000);

    assertThatThrownBy(
            () -> TensorInputs.check(read("inputs { name: '" + name + "' datatype: 'Q\\r' }")))
        .isInstanceOfSatisfying(
            ApiException.class,
            refused -> {
              assertThat(refused.error().message()).startsWith("'x??[2Jyy").contains("'Q?'");
              assertThat(refused.error().message().length()).isLessThan(600);
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "INT32 | [2] | contents { int_contents: [1] }         | implies 2 elements but data has 1",
        "INT32 | [1] | contents { int_contents: [1, 2] }      | exactly one element, and has more",
        "INT32 | [2] | contents { int_contents: [1, 2, 3] }   | more than 2 elements",
        "BYTES | [2] | contents { bytes_contents: ['a'] }     | implies 2 elements but data has 1",
        "BYTES | [0] | contents { bytes_contents: ['a'] }     | more than 0 elements",
        "FP16  | [1] | contents { fp32_contents: [1] }        | must be sent via `raw_input_contents`",
        "INT8  | [1] | contents { int_contents: [300] }       | 300 is not between",
        "INT8  | []  | contents { }                           | implies 1 elements but data has 0",
        "INT8  | [1] |                                        | Missing raw input for 'a'",
      })
  void elementsAreAsManyAsTheShapeSays(String type, String shape, String rest, String words) {
    var request =
        read(
            "inputs { name: 'a' datatype: '%s' shape: %s %s }"
                .formatted(type, shape, rest == null ? "" : rest));
    TensorInputs.check(request);

    assertRefused(() -> TensorInputs.read(request), words);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "INT32 | [2]    | \\001\\000\\000\\000       | implies 2 elements but data has 1",
        "INT32 | [1]    | \\001\\000\\000            | multiple of 4",
        "INT8  | [1]    | ab                         | exactly one element",
        "BYTES | [2147483647] | \\000\\000\\000\\000 | implies 2147483647 elements but data has 1",
      })
  void rawElementsAreAsManyAsTheShapeSays(String type, String shape, String raw, String words) {
    var request =
        read(
            "inputs { name: 'a' datatype: '%s' shape: %s } raw_input_contents: '%s'"
                .formatted(type, shape, raw));
    TensorInputs.check(request);

    assertRefused(() -> TensorInputs.read(request), words);
  }

  @Test
  void aShapeIsNoReasonToAllocate() {
    var request =
        read(
            "inputs { name: 'a' datatype: 'FP64' shape: [2147483647] contents { fp64_contents: [1] } }"
                + "inputs { name: 'b' datatype: 'BYTES' shape: [2147483647] contents { bytes_contents: ['x'] } }");
    TensorInputs.check(request);
    assertThat(TensorInputs.heapBytes(request)).isLessThan(1000);

    long before = allocated();
    assertRefused(() -> TensorInputs.read(request), "implies 2147483647 elements but data has 1");
    assertThat(allocated() - before).isLessThan(1 << 20);
  }

  private static long allocated() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getCurrentThreadAllocatedBytes();
  }

  @Test
  void emptyElementsAreNoObjects() {
    var request =
        read(
            "inputs { name: 'a' datatype: 'BYTES' shape: [100000] contents { "
                + "bytes_contents: '' ".repeat(100_000)
                + "} }");
    long before = allocated();

    var data = (TensorData.Strings) TensorInputs.read(request).tensors().getFirst().data();

    assertThat(data.count()).isEqualTo(100_000);
    assertThat(allocated() - before).isLessThan(1 << 20);
    assertThat(TensorInputs.heapBytes(request)).isGreaterThanOrEqualTo(data.bytes().remaining());
  }

  @Test
  void memoryIsKnownBeforeItIsTaken() {
    var typed =
        read(
            "inputs { name: 'a' datatype: 'INT64' shape: [4] contents { int64_contents: [1, 2, 3, 4] } }");
    var raw = read("inputs { name: 'a' datatype: 'INT8' shape: [4] } raw_input_contents: 'abcd'");

    assertThat(TensorInputs.heapBytes(typed)).isEqualTo(32);
    assertThat(TensorInputs.heapBytes(raw)).as("a slice of the message").isZero();
    assertThat(TensorInputs.wireBytes(TensorInputs.read(typed))).isEqualTo(36);
  }

  @Test
  void requestsAreReadForWorkers() {
    var request =
        read(
            """
            model_name: 'm' id: 'x'
            inputs { name: 'a' datatype: 'INT8' shape: [2] parameters { key: 'p' value { int64_param: 1 } } contents { int_contents: [1, 2] } }
            inputs { name: 'one' datatype: 'FP32' contents { fp32_contents: [1] } }
            outputs { name: 'y' parameters { key: 'binary_data' value { bool_param: true } } parameters { key: 'q' value { bool_param: true } } }
            parameters { key: 'triton_enable_empty_final_response' value { bool_param: true } }
            parameters { key: 'beams' value { int64_param: 2 } }
            """);

    var read = TensorInputs.read(request);

    assertThat(read.id()).isEqualTo("x");
    assertThat(read.tensors().getFirst().parameters()).isEqualTo(Map.of("p", 1L));
    assertThat(read.tensors().getLast().data().count()).isEqualTo(1);
    assertThat(read.outputs().getFirst().parameters()).isEqualTo(Map.of("q", true));
    assertThat(read.parameters())
        .as("without those about the answer")
        .isEqualTo(Map.of("beams", 2L));
  }

  @Test
  void describedInputsAreAsDescribedAndOthersPass() {
    TensorInputs.check(
        read(
            "inputs { name: 'a' datatype: 'INT32' shape: [7, 2] } inputs { name: 'z' datatype: 'FP16' }"),
        MODEL);
    assertRefused(
        () ->
            TensorInputs.check(read("inputs { name: 'a' datatype: 'INT64' shape: [7, 2] }"), MODEL),
        "'a' is of datatype INT64, and the model takes INT32");
    assertRefused(
        () ->
            TensorInputs.check(read("inputs { name: 'a' datatype: 'INT32' shape: [7, 3] }"), MODEL),
        "'a' has the shape [7, 3], and the model takes [-1, 2]");
    assertRefused(
        () -> TensorInputs.check(read("inputs { name: 'b' datatype: 'BYTES' }"), MODEL),
        "'b' has the shape [], and the model takes [1]");
  }
}
