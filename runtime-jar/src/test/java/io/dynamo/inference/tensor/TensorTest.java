package io.dynamo.inference.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Shapes, and the elements of tensors. */
class TensorTest {
  @Test
  void elementsAreTheProductOfTheDimensions() {
    assertThat(Tensor.elements(List.of())).hasValue(1);
    assertThat(Tensor.elements(List.of(2L, 3L, 4L))).hasValue(24);
    assertThat(Tensor.elements(List.of(1L << 40, 1L << 40, 0L))).hasValue(0);
    assertThat(Tensor.elements(List.of(Long.MAX_VALUE, 1L))).hasValue(Long.MAX_VALUE);
  }

  @Test
  void shapesWithoutANumberOfElementsHaveNone() {
    assertThat(Tensor.elements(List.of(-1L))).isEqualTo(OptionalLong.empty());
    assertThat(Tensor.elements(List.of(0L, -1L))).isEqualTo(OptionalLong.empty());
    assertThat(Tensor.elements(List.of(-2L, -3L))).isEqualTo(OptionalLong.empty());
    assertThat(Tensor.elements(List.of(1L << 32, 1L << 32))).isEqualTo(OptionalLong.empty());
    assertThat(Tensor.elements(List.of(Long.MAX_VALUE, 2L))).isEqualTo(OptionalLong.empty());
  }

  @Test
  void typesHoldTheValuesOfTheirWidth() {
    assertThat(TensorType.INT8.holds(-128)).isTrue();
    assertThat(TensorType.INT8.holds(128)).isFalse();
    assertThat(TensorType.UINT16.holds(65_535)).isTrue();
    assertThat(TensorType.UINT16.holds(-1)).isFalse();
    assertThat(TensorType.UINT32.holds(0xFFFF_FFFFL)).isTrue();
    assertThat(TensorType.UINT32.holds(1L << 32)).isFalse();
    assertThat(TensorType.FP32.holds(0)).isFalse();
  }

  @Test
  void gatheredElementsStandLittleEndianWithoutGaps() {
    var numbers = new TensorBytes(TensorType.INT16);
    for (int i = 0; i < 100; i++) {
      numbers.add(i);
    }
    assertThat(numbers.data().count()).isEqualTo(100);
    assertThat(numbers.data().bytes().getShort(2 * 99)).isEqualTo((short) 99);
    var strings = new TensorBytes(TensorType.BYTES);
    strings.add(new byte[] {'a', 'b'});
    strings.add(new byte[0]);
    var data = (TensorData.Strings) strings.data();
    assertThat(data.count()).isEqualTo(2);
    assertThat(data.text(0)).isEqualTo("ab");
    assertThat(data.text(1)).isEmpty();
    assertThatThrownBy(() -> data.text(2)).isInstanceOf(RuntimeException.class);
  }
}
