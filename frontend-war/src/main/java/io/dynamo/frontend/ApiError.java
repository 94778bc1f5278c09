package io.dynamo.frontend;

import io.dynamo.error.DynamoException;
import io.dynamo.error.Failed;
import io.dynamo.error.Invalid;
import io.dynamo.error.Migratable;
import io.dynamo.error.RateLimitedException;
import io.dynamo.error.Refused;
import io.dynamo.frontend.sse.ByteText;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An error answer: status, message and machine-readable code. Its body has both dialects: OpenAI's
 * nested {@code error} object, and Dynamo's flat keys beside it.
 *
 * @param status HTTP status; 499 when the client gave up, 529 when workers have no room
 * @param code OpenAI's machine-readable code, {@code model_not_found} for example
 * @param param the request field at fault
 * @param retryAfterSeconds sent as {@code Retry-After}
 * @param limit of tokens, when that was exceeded
 */
public record ApiError(
    int status,
    String message,
    @Nullable String code,
    @Nullable String param,
    @Nullable Integer retryAfterSeconds,
    @Nullable TokenLimit limit) {
  /**
   * The token limit that a request exceeds: Dynamo's {@code details}.
   *
   * @param actual what the request would take
   */
  public record TokenLimit(int limit, long actual) {}

  /** An error without numbers. */
  public ApiError(
      int status,
      String message,
      @Nullable String code,
      @Nullable String param,
      @Nullable Integer retryAfterSeconds) {
    this(status, message, code, param, retryAfterSeconds, null);
  }

  /** The code of every refusal because of overload. */
  public static final String OVERLOADED = "overloaded";

  /** The code for a body on which the parser itself failed. */
  public static final String UNREADABLE = "unreadable_body";

  /** The status of a request whose client gave up; nobody gets it. */
  public static final int CLIENT_GONE = 499;

  private static final int RETRY_SECONDS = 1;
  private static final int SHOWN = 256; // characters

  public static ApiError of(int status, String message) {
    return new ApiError(status, message, null, null, null);
  }

  /** A temporary refusal: 503 with {@code Retry-After}. */
  public static ApiError unavailable(String message, @Nullable String code) {
    return new ApiError(503, message, code, null, RETRY_SECONDS);
  }

  /** A refusal because of overload. */
  public static ApiError overloaded(int status, String message, int retryAfterSeconds) {
    return new ApiError(status, message, OVERLOADED, null, retryAfterSeconds);
  }

  /** A refusal of a body that the parser itself failed on: 400, counted apart. */
  public static ApiError unreadable(String message) {
    return new ApiError(400, message, UNREADABLE, null, null);
  }

  /** Whether the request was refused because of overload alone. */
  public boolean isOverload() {
    return OVERLOADED.equals(code);
  }

  /** A copy with another status. */
  public ApiError withStatus(int other) {
    return new ApiError(other, message, code, param, retryAfterSeconds, limit);
  }

  public static ApiError modelNotFound(String model) {
    return new ApiError(
        404, "Model not found: `" + shown(model) + "`", "model_not_found", "model", null);
  }

  /** A text of the client, shortened and without broken characters, as an answer may repeat it. */
  public static String shown(String text) {
    var cut = text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
    return new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  public static ApiError routeNotFound(String method, String path) {
    return of(404, "Route not found: " + method + " " + path);
  }

  /**
   * The error for {@code failure}. Messages about the client's faults are shown; those about ours
   * stay in the log.
   */
  public static ApiError of(Throwable failure) {
    return switch (failure) {
      case ApiException known -> known.error();
      case DynamoException known -> of(known);
      default -> of(500, fixedText(500));
    };
  }

  private static ApiError of(DynamoException failure) {
    int status = failure.httpStatus();
    return switch (failure) {
      case Invalid theirs ->
          of(status, Objects.requireNonNullElse(theirs.getMessage(), reason(status)));
      case RateLimitedException limited ->
          new ApiError(
              status,
              Objects.requireNonNullElse(limited.getMessage(), reason(status)),
              "rate_limit_exceeded",
              null,
              RETRY_SECONDS);
      case Refused _, Migratable _, Failed _ ->
          new ApiError(
              status,
              fixedText(status),
              status == 529 ? OVERLOADED : null,
              null,
              status == 503 || status == 529 ? RETRY_SECONDS : null);
    };
  }

  private static String fixedText(int status) {
    return switch (status) {
      case 408 -> "Request Timeout";
      case CLIENT_GONE -> "Request cancelled";
      case 501 -> "Operation not implemented";
      case 502 -> "Bad gateway";
      case 503 -> "Service temporarily unavailable";
      case 504 -> "Request deadline exceeded";
      case 529 -> "Service temporarily overloaded";
      default -> "Internal server error";
    };
  }

  /** OpenAI's error type, also used in error frames. */
  public String type() {
    return switch (status) {
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 429 -> "rate_limit_error";
      case CLIENT_GONE -> "request_cancelled";
      case 501 -> "not_implemented_error";
      case 503, 529 -> "service_unavailable";
      case 504 -> "timeout_error";
      default -> status < 500 ? "invalid_request_error" : "internal_server_error";
    };
  }

  /** Dynamo's flat type: the reason phrase. */
  public static String reason(int status) {
    return switch (status) {
      case 400 -> "Bad Request";
      case 401 -> "Unauthorized";
      case 403 -> "Forbidden";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 406 -> "Not Acceptable";
      case 408 -> "Request Timeout";
      case 409 -> "Conflict";
      case 413 -> "Payload Too Large";
      case 415 -> "Unsupported Media Type";
      case 429 -> "Too Many Requests";
      case 431 -> "Request Header Fields Too Large";
      case CLIENT_GONE -> "Client Closed Request";
      case 500 -> "Internal Server Error";
      case 501 -> "Not Implemented";
      case 502 -> "Bad Gateway";
      case 503 -> "Service Unavailable";
      case 504 -> "Gateway Timeout";
      case 505 -> "HTTP Version Not Supported";
      case 529 -> "Overloaded";
      default -> "UnknownError";
    };
  }

  private String flatType() {
    return isOverload() && status != 503 ? reason(529) : reason(status);
  }

  /** Dynamo's {@code error_type}, the label of counters. */
  public String errorType() {
    if (isOverload()) {
      return "overload";
    }
    return switch (status) {
      case 404 -> "not_found";
      case 429, 529 -> "overload";
      case CLIENT_GONE -> "cancelled";
      case 501 -> "not_implemented";
      case 503 -> "unavailable";
      case 504 -> "response_timeout";
      default -> status < 500 ? "validation" : "internal";
    };
  }

  /** The body of an answer, as UTF-8 JSON. */
  public byte[] body() {
    var json = new ByteText(256 + message.length());
    json.ascii("{\"error\":{\"message\":").quoted(message).ascii(",\"type\":").quoted(type());
    optional(json.ascii(",\"code\":"), code);
    optional(json.ascii(",\"param\":"), param);
    json.ascii("},\"message\":").quoted(message).ascii(",\"type\":").quoted(flatType());
    json.ascii(",\"code\":").number(status);
    if (limit != null) {
      json.ascii(",\"details\":{\"type\":\"context_length\",\"limit\":").number(limit.limit());
      json.ascii(",\"actual\":").number(limit.actual()).ascii("}");
    }
    return json.ascii("}").toByteArray();
  }

  /**
   * Appends the frame that ends a stream which failed after its status line, in Dynamo's format:
   * 404 has a type of its own, and a worker's timeout is reported as 504.
   */
  public void appendFrame(ByteText frames) {
    if (status == 408) {
      of(504, fixedText(504)).appendFrame(frames);
      return;
    }
    frames.ascii("data: {\"error\":{\"message\":").quoted(message);
    frames.ascii(",\"type\":").quoted(status == 404 ? "not_found_error" : type());
    frames.ascii(",\"code\":").number(status).ascii("}}\n\n");
  }

  private static void optional(ByteText json, @Nullable String value) {
    if (value == null) {
      json.ascii("null");
    } else {
      json.quoted(value);
    }
  }
}
