package io.dynamo.frontend.kserve;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;

/**
 * A model as a request names it.
 *
 * @param version empty for any
 */
public record NamedModel(String name, String version) {
  /** The only version that models have. */
  public static final String VERSION = "1";

  /** Whether models have that version. */
  public boolean hasVersion() {
    return version.isEmpty() || version.equals(VERSION);
  }

  /**
   * Refuses an empty name, and versions that no model has.
   *
   * @throws ApiException with 404
   */
  public NamedModel require() {
    if (name.isEmpty()) {
      throw notFound();
    }
    if (!hasVersion()) {
      throw new ApiException(
          ApiError.of(
              404,
              "Model '%s' has no version '%s'; leave the version out, or name %s"
                  .formatted(ApiError.shown(name), ApiError.shown(version), VERSION)));
    }
    return this;
  }

  ApiException notFound() {
    return new ApiException(
        ApiError.of(404, "Model '%s' not found".formatted(ApiError.shown(name))));
  }
}
