package io.dynamo.frontend.dispatch;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.EngineFailedException;
import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorBytes;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.inference.tensor.TensorType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Answers of workers whose shapes are not those of their data. */
class WorkerTensorsTest {
  private static TensorResponse twoOfShape(Long... shape) {
    var bytes = new TensorBytes(TensorType.INT8);
    bytes.add(1);
    bytes.add(2);
    return new TensorResponse(
        null, "m", List.of(new Tensor("a", List.of(shape), Map.of(), bytes.data())), Map.of());
  }

  @Test
  void tensorsHaveAsManyElementsAsTheirShapesSay() {
    assertThatCode(() -> WorkerTensors.requireWhole(twoOfShape(2L, 1L))).doesNotThrowAnyException();
    for (var shape :
        List.of(
            new Long[] {},
            new Long[] {3L},
            new Long[] {-1L},
            new Long[] {-2L, -1L},
            new Long[] {1L << 62, 4L, 2L})) {
      assertThatThrownBy(() -> WorkerTensors.requireWhole(twoOfShape(shape)))
          .isInstanceOf(EngineFailedException.class)
          .hasMessageContaining("with 2 elements");
    }
  }
}
