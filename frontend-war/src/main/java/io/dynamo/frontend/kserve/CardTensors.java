package io.dynamo.frontend.kserve;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.inference.tensor.TensorType;
import io.dynamo.model.ModelCard;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the tensors of a model from its workers' card: {@code tensor_model_config}. */
public final class CardTensors {
  private static final String TRITON = "triton_model_config";

  private CardTensors() {}

  /**
   * Describes the model of a card; empty when the card does not.
   *
   * @throws ApiException with 502 when the card's description is malformed
   */
  public static Optional<ModelDescription> of(ModelCard card) {
    var config = card.tensorConfig();
    if (config.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          config.get(TRITON) instanceof List<?> bytes
              ? TritonConfig.read(card.displayName(), bytes(bytes))
              : new ModelDescription(
                  card.displayName(),
                  tensors(config.get("inputs")),
                  tensors(config.get("outputs"))));
    } catch (IOException e) {
      throw new ApiException(
          ApiError.of(
              502,
              "the tensors of model '%s' cannot be described: tensor_model_config of its workers' card is malformed: %s"
                  .formatted(ApiError.shown(card.displayName()), e.getMessage())));
    }
  }

  private static byte[] bytes(List<?> numbers) throws IOException {
    var bytes = new byte[numbers.size()];
    for (int i = 0; i < bytes.length; i++) {
      if (!(numbers.get(i) instanceof Number number)
          || number.longValue() < 0
          || number.longValue() > 0xFF) {
        throw new IOException(TRITON + " holds what is no byte");
      }
      bytes[i] = number.byteValue();
    }
    return bytes;
  }

  private static List<TensorSpec> tensors(@Nullable Object list) throws IOException {
    var tensors = new ArrayList<TensorSpec>();
    if (list == null) {
      return tensors;
    }
    if (!(list instanceof List<?> all) || all.size() > InferRequestReader.MAX_TENSORS) {
      throw new IOException(
          "inputs or outputs are no list of at most " + InferRequestReader.MAX_TENSORS);
    }
    for (var one : all) {
      tensors.add(tensor(one));
    }
    return tensors;
  }

  private static TensorSpec tensor(@Nullable Object one) throws IOException {
    if (one instanceof Map<?, ?> tensor
        && tensor.get("name") instanceof String name
        && tensor.get("data_type") instanceof String type) {
      var known = TensorType.ofWorker(type);
      if (known != null) {
        return new TensorSpec(name, known, shape(tensor.get("shape")), false);
      }
    }
    throw new IOException("a tensor has no name, or no data_type that is known");
  }

  private static List<Long> shape(@Nullable Object list) throws IOException {
    var shape = new ArrayList<Long>();
    if (!(list instanceof List<?> all) || all.size() > InferRequestReader.MAX_DIMENSIONS) {
      throw new IOException(
          "a shape is no list of at most " + InferRequestReader.MAX_DIMENSIONS + " numbers");
    }
    for (var dimension : all) {
      if (!(dimension instanceof Number number) || number.doubleValue() != number.longValue()) {
        throw new IOException("a dimension of a shape is no whole number");
      }
      shape.add(number.longValue());
    }
    return shape;
  }
}
