package io.dynamo.config.frontend;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The number of requests that the frontend admits, for each model. Keys: {@code
 * dynamo.frontend.admission.*} and {@code dynamo.frontend.overload-status}.
 *
 * @param standard the bounds of models without bounds of their own
 * @param byModel the bounds of the other models, by name
 * @param overloadStatus the HTTP status of every refusal for lack of room; null chooses by reason:
 *     429 for a model's bound, 503 for the server's, 529 when all workers are busy
 */
public record FrontendAdmission(
    ModelBounds standard, Map<String, ModelBounds> byModel, @Nullable Integer overloadStatus) {
  /** The bounds when nothing is set. */
  public static final FrontendAdmission STANDARD =
      new FrontendAdmission(ModelBounds.STANDARD, Map.of(), null);

  public FrontendAdmission {
    byModel = Map.copyOf(byModel);
  }

  /** Returns the bounds of {@code model}. */
  public ModelBounds of(String model) {
    return byModel.getOrDefault(model, standard);
  }
}
