package io.dynamo.frontend.kserve;

import java.util.List;

/** The tensors of a model, as clients may know them. */
public record ModelDescription(String name, List<TensorSpec> inputs, List<TensorSpec> outputs) {
  /** The platform, and the backend, of all models. */
  public static final String PLATFORM = "dynamo";

  private static final List<Long> ONE = List.of(1L);
  private static final List<Long> ANY = List.of(-1L);

  public ModelDescription {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
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
