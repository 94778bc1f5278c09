package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.List;

/** Chooses the model of requests that name none. */
final class OmittedModel {
  private OmittedModel() {}

  /**
   * The only one.
   *
   * @param able the names of the models that could take the request
   * @throws ApiException with 400 when there are several, with 404 when there is none
   */
  static String only(List<String> able) {
    var first = first(able);
    if (able.size() > 1) {
      throw new ApiException(
          new ApiError(
              400,
              "the request names no model, and several are served, %s and %s among them; name one"
                  .formatted(first, able.get(1)),
              null,
              "model",
              null));
    }
    return first;
  }

  /**
   * The first one.
   *
   * @throws ApiException with 404 when there is none
   */
  static String first(List<String> able) {
    if (able.isEmpty()) {
      throw new ApiException(
          ApiError.of(404, "the request names no model, and none is served that could take it"));
    }
    return able.getFirst();
  }
}
