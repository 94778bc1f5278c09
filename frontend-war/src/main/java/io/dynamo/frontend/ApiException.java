package io.dynamo.frontend;

import java.util.Objects;

/** Ends the handling of a request with an answer that is known already. */
public final class ApiException extends RuntimeException {
  private final transient ApiError error;

  public ApiException(ApiError error) {
    super(Objects.requireNonNull(error).message(), null, false, false);
    this.error = error;
  }

  public ApiException(int status, String message) {
    this(ApiError.of(status, message));
  }

  public ApiError error() {
    return error;
  }
}
