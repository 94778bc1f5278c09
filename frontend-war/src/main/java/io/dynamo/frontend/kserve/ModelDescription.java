package io.dynamo.frontend.kserve;

import io.dynamo.inference.tensor.TensorType;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tensors of a model, as clients may know them.
 *
 * @param maxBatchSize above 0, tensors have a dimension for requests before those of {@code inputs}
 *     and {@code outputs}
 * @param configuration Triton's message {@code ModelConfig}, where the model's workers give one
 */
public record ModelDescription(
    String name,
    String platform,
    int maxBatchSize,
    List<TensorSpec> inputs,
    List<TensorSpec> outputs,
    @Nullable ByteBuffer configuration) {
  /** The platform, and the backend, of models that do not say another. */
  public static final String PLATFORM = "dynamo";

  private static final List<Long> ONE = List.of(1L);
  private static final List<Long> ANY = List.of(-1L);

  public ModelDescription {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    configuration = configuration == null ? null : configuration.asReadOnlyBuffer();
  }

  public ModelDescription(String name, List<TensorSpec> inputs, List<TensorSpec> outputs) {
    this(name, PLATFORM, 0, inputs, outputs, null);
  }

  /** Whether tensors have a dimension for requests before those of their descriptions. */
  public boolean batch() {
    return maxBatchSize > 0;
  }

  /** Describes a model that continues texts. */
  static ModelDescription ofTexts(String name) {
    return new ModelDescription(
        name,
        List.of(
            new TensorSpec(TextTensors.TEXT_INPUT, TensorType.BYTES, ONE, false),
            new TensorSpec(TextTensors.STREAMING, TensorType.BOOL, ONE, true)),
        TextTensors.OUTPUTS.stream()
            .map(output -> new TensorSpec(output, TensorType.BYTES, ANY, false))
            .toList());
  }
}
