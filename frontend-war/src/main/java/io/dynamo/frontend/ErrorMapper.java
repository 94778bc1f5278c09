package io.dynamo.frontend;

import io.dynamo.error.DynamoException;
import io.dynamo.error.FailureShape;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Request;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.TreeSet;

/** Turns every exception below {@code /v1} into an error answer of the one format. */
@Provider
public class ErrorMapper implements ExceptionMapper<Throwable> {
  private static final System.Logger LOG = System.getLogger(ErrorMapper.class.getName());

  @Context
  @SuppressWarnings("NullAway.Init") // injected
  private UriInfo uri;

  @Context
  @SuppressWarnings("NullAway.Init") // injected
  private Request request;

  @Override
  public Response toResponse(Throwable failure) {
    return switch (failure) {
      case WebApplicationException web -> web(web.getResponse());
      case ApiException known -> response(known.error());
      case DynamoException known -> response(ApiError.of(known));
      default -> {
        LOG.log(Level.ERROR, "a request failed unexpectedly", FailureShape.of(failure));
        yield response(ApiError.of(failure));
      }
    };
  }

  private Response web(Response given) {
    int status = given.getStatus();
    if (status < 400) {
      return "OPTIONS".equals(request.getMethod()) ? notAllowed(given.getAllowedMethods()) : given;
    }
    return switch (status) {
      case 404 ->
          response(ApiError.routeNotFound(request.getMethod(), uri.getRequestUri().getRawPath()));
      case 405 -> notAllowed(given.getAllowedMethods());
      default -> response(ApiError.of(status, ApiError.reason(status)));
    };
  }

  private Response notAllowed(Set<String> methods) {
    var allowed = new TreeSet<>(methods);
    allowed.remove("OPTIONS");
    return Response.fromResponse(
            response(
                ApiError.of(
                    405,
                    request.getMethod()
                        + " is not allowed here; use "
                        + String.join(" or ", allowed))))
        .header("Allow", String.join(",", allowed))
        .build();
  }

  private Response response(ApiError error) {
    return response(error, ErrorFormat.of(uri.getRequestUri().getRawPath()));
  }

  /** The JAX-RS response for {@code error}. */
  public static Response response(ApiError error, ErrorFormat format) {
    var response =
        Response.status(error.status(), ApiError.reason(error.status()))
            .type(MediaType.APPLICATION_JSON_TYPE)
            .entity(format.body(error));
    if (error.retryAfterSeconds() != null) {
      response.header("Retry-After", error.retryAfterSeconds());
    }
    return response.build();
  }
}
