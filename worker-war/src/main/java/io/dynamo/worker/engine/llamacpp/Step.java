package io.dynamo.worker.engine.llamacpp;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.RateLimitedException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.Logprobs.Top;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One message of the server's answer. Arrays are owned by the record and never changed.
 *
 * @param tokens the new tokens
 * @param predicted tokens generated so far, including those held back
 * @param rated log probabilities of new tokens, as far as the server reports them; in the order of
 *     {@code tokens}
 * @param cached prompt tokens found in the server's cache, null when the message does not report it
 * @param end why the answer ends, null while it goes on
 */
record Step(
    int[] tokens, int predicted, List<Rated> rated, @Nullable Integer cached, @Nullable End end) {
  private static final byte[] DATA = "data: ".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] ERROR = "error: ".getBytes(StandardCharsets.US_ASCII);

  static {
    Json.expect(
        "index", "content", "tokens", "stop", "id_slot", "tokens_predicted", "tokens_evaluated");
  }

  /** Why the server ends an answer. */
  enum End {
    LIMIT,
    END_OF_TEXT,
    OTHER
  }

  /** The log probability of one token, and of its alternatives. */
  record Rated(int token, double logprob, List<Top> top) {}

  /**
   * Reads a line of a stream, or a whole answer.
   *
   * @return null for a line without a message
   * @throws DynamoException when the server reports a failure
   * @throws IllegalArgumentException when the line is not the server's
   */
  static @Nullable Step of(byte[] line) {
    int from = start(line);
    if (line.length - from < 2) { // an empty line, or a lone carriage return
      return null;
    }
    var bytes = new byte[line.length - from];
    System.arraycopy(line, from, bytes, 0, bytes.length);
    var message = Json.readMessage(bytes);
    var failure = message.optionalObject("error");
    if (failure != null) {
      throw refusal(failure);
    }
    if (startsWith(line, ERROR)) {
      throw refusal(message);
    }
    var progress = message.optionalObject("prompt_progress");
    if (progress != null) { // a progress message carries no tokens
      return new Step(new int[0], 0, List.of(), progress.optionalCount("cache"), null);
    }
    return new Step(
        ints(message.list("tokens")),
        message.count("tokens_predicted"),
        rated(message),
        message.optionalCount("timings/cache_n"),
        end(message));
  }

  private static int start(byte[] line) {
    return startsWith(line, DATA) ? DATA.length : startsWith(line, ERROR) ? ERROR.length : 0;
  }

  private static boolean startsWith(byte[] line, byte[] with) {
    if (line.length < with.length) {
      return false;
    }
    for (int i = 0; i < with.length; i++) {
      if (line[i] != with[i]) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable End end(JsonObject message) {
    if (!Boolean.TRUE.equals(message.members().get("stop"))) {
      return null;
    }
    var type = message.optionalText("stop_type");
    return switch (type) {
      case "limit" -> End.LIMIT;
      case "eos" -> End.END_OF_TEXT;
      case null, default -> End.OTHER;
    };
  }

  private static int[] ints(List<?> ids) {
    var tokens = new int[ids.size()];
    for (int i = 0; i < tokens.length; i++) {
      if (!(ids.get(i) instanceof Integer id)) {
        throw new IllegalArgumentException("member \"tokens\" is not a list of ids");
      }
      tokens[i] = id;
    }
    return tokens;
  }

  private static List<Rated> rated(JsonObject message) {
    var all = message.optionalObjects("completion_probabilities");
    var rated = new ArrayList<Rated>(all.size());
    for (var one : all) {
      var top = new ArrayList<Top>();
      for (var other : one.optionalObjects("top_logprobs")) {
        top.add(new Top(top.size() + 1, other.count("id"), null, logprob(other), null));
      }
      rated.add(new Rated(one.count("id"), logprob(one), List.copyOf(top)));
    }
    return rated;
  }

  private static double logprob(JsonObject of) { // JSON null stands for minus infinity
    return of.members().get("logprob") instanceof Number number
        ? number.doubleValue()
        : Double.NEGATIVE_INFINITY;
  }

  /** Converts an answer other than 200 to an exception. */
  static DynamoException refusal(int status, byte[] body) {
    JsonObject failure;
    try {
      failure = Json.readObject(body).object("error");
    } catch (IllegalArgumentException _) {
      failure = JsonObject.of(JsonObject.ordered("code", status, "message", "no reason given"));
    }
    return refusal(failure);
  }

  private static DynamoException refusal(JsonObject failure) {
    var codeMember = failure.members().get("code");
    int code = codeMember instanceof Integer number ? number : 500;
    var message = failure.members().get("message");
    var text = "llama.cpp's server answers %d: %s".formatted(code, message);
    return switch (code) {
      case 400, 422 -> new InvalidRequestException(text);
      case 413 -> new InvalidRequestException(ErrorCode.INVALID_ARGUMENT, 413, text);
      case 429 -> new RateLimitedException(text);
      case 501 -> new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, 501, text, null);
      case 503 -> new WorkerLostException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, text);
      default -> new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, text, null);
    };
  }
}
