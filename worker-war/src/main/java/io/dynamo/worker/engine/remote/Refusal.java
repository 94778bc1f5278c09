package io.dynamo.worker.engine.remote;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * Converts refusals of servers to typed errors: the requester's fault, a busy server, or a broken
 * one, whose generations go on elsewhere.
 */
public final class Refusal {
  private Refusal() {}

  /**
   * @param engine the kind of server, for the message
   * @param body the answer: an object with {@code error}, {@code message} or {@code detail}, or
   *     text
   */
  public static DynamoException of(String engine, int status, byte[] body) {
    return of(engine, status, message(body));
  }

  /**
   * Converts the {@code error} member of a message in a stream.
   *
   * @param failure an object with {@code message} and {@code code}, or a text
   */
  public static DynamoException of(String engine, Object failure) {
    if (failure instanceof java.util.Map<?, ?> map) {
      var code = map.get("code");
      return of(
          engine,
          code instanceof Number number ? number.intValue() : 500,
          String.valueOf(map.get("message")));
    }
    return of(engine, 500, String.valueOf(failure));
  }

  private static DynamoException of(String engine, int status, String message) {
    var text = "%s answers %d: %s".formatted(engine, status, message);
    return switch (status) {
      case 400, 422 -> new InvalidRequestException(text);
      case 413 -> new InvalidRequestException(ErrorCode.INVALID_ARGUMENT, 413, text);
      case 401, 403 ->
          new EngineFailedException(
              ErrorCode.BACKEND_UNKNOWN, text + "; see dynamo.worker.remote.key-file", null);
      case 404, 429, 503 -> new WorkerBusyException(text); // another may serve it
      case 501 -> new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, 501, text, null);
      default -> new WorkerLostException(ErrorCode.BACKEND_STREAM_INCOMPLETE, text);
    };
  }

  private static String message(byte[] body) {
    if (body.length == 0) {
      return "no reason given";
    }
    try {
      var answer = Json.readObject(body);
      var found = inner(answer);
      return found == null ? EngineHttp.shown(body) : found;
    } catch (IllegalArgumentException _) {
      return EngineHttp.shown(body);
    }
  }

  private static @Nullable String inner(JsonObject answer) {
    var error = answer.members().get("error");
    if (error instanceof java.util.Map<?, ?> map && map.get("message") != null) {
      return String.valueOf(map.get("message"));
    }
    for (var name : new String[] {"error", "message", "detail"}) {
      if (answer.members().get(name) instanceof String text) {
        return text;
      }
    }
    return null;
  }
}
