package io.dynamo.config.frontend;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The number of requests that the frontend admits, model by model. Keys: {@code
 * dynamo.frontend.admission.*} and {@code dynamo.frontend.overload-status}.
 *
 * @param standard the bounds of models that have none of their own
 * @param byModel the bounds of those that have, by name
 * @param overloadStatus the HTTP status of every refusal for want of room; null is by reason: 429
 *     for a model's bound, 503 for the server's, 529 for workers that are all busy
 */
public record FrontendAdmission(
    ModelBounds standard, Map<String, ModelBounds> byModel, @Nullable Integer overloadStatus) {
  /** The bounds when nothing is set. */
  public static final FrontendAdmission STANDARD =
      new FrontendAdmission(ModelBounds.STANDARD, Map.of(), null);

  public FrontendAdmission {
    byModel = Map.copyOf(byModel);
  }

  /** The bounds of {@code model}. */
  public ModelBounds of(String model) {
    return byModel.getOrDefault(model, standard);
  }
}
