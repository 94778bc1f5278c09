package io.dynamo.wire.request;

import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Invalid;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.RateLimitedException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An error on the wire. Dynamo 1.6.1 writes all fields; earlier releases write {@code error_type},
 * {@code message} and {@code caused_by} only.
 *
 * @param errorClass {@code class}, absent before 1.6
 * @param reason absent before 1.6
 * @param publicMessage the text for an HTTP client; null hides the message from it
 */
public record DynamoError(
    ErrorCode code,
    @Nullable String errorClass,
    @Nullable String reason,
    String message,
    @Nullable String diagnostic,
    @Nullable String publicMessage,
    @Nullable DynamoError causedBy) {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int ERROR_TYPE = 0;
    static final int CLASS = 1;
    static final int REASON = 2;
    static final int MESSAGE = 3;
    static final int DIAGNOSTIC = 4;
    static final int PUBLIC = 5;
    static final int CAUSED_BY = 6;
    static final Keys KEYS =
        new Keys(
            Keys.entry(ERROR_TYPE, "error_type"),
            Keys.entry(CLASS, "class"),
            Keys.entry(REASON, "reason"),
            Keys.entry(MESSAGE, "message"),
            Keys.entry(DIAGNOSTIC, "diagnostic"),
            Keys.entry(PUBLIC, "public"),
            Keys.entry(CAUSED_BY, "caused_by"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class BackendField {
    static final int BACKEND = 0;
    static final Keys KEYS = new Keys(Keys.entry(BACKEND, "Backend"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class PublicField {
    static final int TYPE = 0;
    static final int MESSAGE = 1;
    static final Keys KEYS = new Keys(Keys.entry(TYPE, "type"), Keys.entry(MESSAGE, "message"));
  }

  private static final int MAX_CAUSES = 16;
  private static final int MAX_CLIENT_CHARS = 4096;

  /** Returns an error with the class and reason that 1.6.1 gives to its code. */
  public static DynamoError of(ErrorCode code, String message, @Nullable String publicMessage) {
    var kind = ErrorKind.of(code);
    return new DynamoError(
        code,
        kind == null ? null : kind.errorClass(),
        kind == null ? null : kind.reason(),
        message,
        message,
        publicMessage,
        null);
  }

  /**
   * Translates a failure into the error that the requester reads. A failure that is not a {@link
   * DynamoException} becomes unknown.
   */
  public static DynamoError of(Throwable failure) {
    var message = Objects.requireNonNullElse(failure.getMessage(), failure.getClass().getName());
    return switch (failure) {
      case Invalid invalid -> of(invalid, message, message);
      case RateLimitedException limited -> of(limited, message, message);
      case DynamoException known -> of(known, message, null);
      default -> of(ErrorCode.BACKEND_UNKNOWN, failure.getClass().getName(), null);
    };
  }

  private static DynamoError of(
      DynamoException failure, String message, @Nullable String publicMessage) {
    int status = failure.httpStatus();
    var kind = ErrorKind.ofStatus(status);
    return kind == null
        ? of(failure.code(), message, publicMessage)
        : new DynamoError(
            ErrorKind.codeOfStatus(status),
            kind.errorClass(),
            kind.reason(),
            message,
            message,
            publicMessage,
            null);
  }

  /** Returns the exception for this error in our process. */
  public DynamoException toException() {
    var meant = ErrorKind.effective(code, errorClass);
    int status = statedStatus();
    return switch (meant) {
      case INVALID_ARGUMENT, BACKEND_INVALID_ARGUMENT -> {
        if (status == 429) {
          yield new RateLimitedException(clientText(status));
        }
        int own = status >= 400 && status < 499 ? status : meant.httpStatus();
        yield new InvalidRequestException(meant, own, clientText(own));
      }
      case WORKER_OVERLOADED -> new WorkerBusyException(message);
      case RESPONSE_TIMEOUT -> {
        var stated = StatedStatus.of(message);
        int own = stated != null && stated.code() == 408 ? 408 : meant.httpStatus();
        yield new WorkerLostException(meant, own, message);
      }
      case CANNOT_CONNECT,
          DISCONNECTED,
          CONNECTION_TIMEOUT,
          WORKER_UNAVAILABLE,
          BACKEND_ENGINE_SHUTDOWN,
          BACKEND_STREAM_INCOMPLETE ->
          new WorkerLostException(meant, message);
      case CANCELLED -> new CancelledException(message);
      case RESOURCE_EXHAUSTED ->
          status == 429
              ? new RateLimitedException(clientText(status))
              : new OverloadedException(message);
      case UNKNOWN,
          UNAVAILABLE,
          BACKEND_UNKNOWN,
          BACKEND_CANNOT_CONNECT,
          BACKEND_DISCONNECTED,
          BACKEND_CONNECTION_TIMEOUT,
          BACKEND_RESPONSE_TIMEOUT,
          BACKEND_CANCELLED ->
          new EngineFailedException(
              meant, status > 500 ? status : meant.httpStatus(), message, null);
    };
  }

  /**
   * Returns a status more specific than the code: by the class, before 1.6 by the message; or 0.
   */
  private int statedStatus() {
    if (errorClass != null) {
      return ErrorKind.statusOf(errorClass);
    }
    var stated = StatedStatus.of(message);
    return stated == null || ErrorKind.ofStatus(stated.code()) == null ? 0 : stated.code();
  }

  /**
   * Returns the text about a client's fault that the client may see: the text that the worker
   * marked as public, or that it gave with a status of 4xx. Any other message may contain internals
   * and is withheld.
   */
  private String clientText(int httpStatus) {
    var text = publicMessage;
    if (text == null) {
      var stated = StatedStatus.of(message);
      boolean theirs = stated != null && stated.code() >= 400 && stated.code() < 499;
      text = theirs ? Objects.requireNonNull(stated).message() : null;
    }
    if (text == null || text.isBlank()) {
      return ErrorKind.phrase(httpStatus);
    }
    return text.length() > MAX_CLIENT_CHARS ? text.substring(0, MAX_CLIENT_CHARS) + "…" : text;
  }

  void write(WireWriter out) throws IOException {
    out.beginMap(
        2
            + count(errorClass)
            + count(reason)
            + count(diagnostic)
            + count(publicMessage)
            + count(causedBy));
    out.key("error_type");
    if (code.isBackend()) {
      out.beginMap(1);
      out.key("Backend");
      out.string(code.wireName());
      out.endMap();
    } else {
      out.string(code.wireName());
    }
    writeIfPresent(out, "class", errorClass);
    writeIfPresent(out, "reason", reason);
    out.key("message");
    out.string(message);
    writeIfPresent(out, "diagnostic", diagnostic);
    if (publicMessage != null) {
      out.key("public");
      out.beginMap(2);
      out.key("type");
      out.string("message");
      out.key("message");
      out.string(publicMessage);
      out.endMap();
    }
    if (causedBy != null) {
      out.key("caused_by");
      causedBy.write(out);
    }
    out.endMap();
  }

  private static int count(@Nullable Object field) {
    return field == null ? 0 : 1;
  }

  private static void writeIfPresent(WireWriter out, String key, @Nullable String value)
      throws IOException {
    if (value != null) {
      out.key(key);
      out.string(value);
    }
  }

  static DynamoError read(WireReader in) throws IOException {
    return read(in, 0);
  }

  private static DynamoError read(WireReader in, int level) throws IOException {
    if (level > MAX_CAUSES) {
      throw new IOException("an error has more than " + MAX_CAUSES + " causes");
    }
    var code = ErrorCode.UNKNOWN;
    String errorClass = null;
    String reason = null;
    String message = "";
    String diagnostic = null;
    String publicMessage = null;
    DynamoError causedBy = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case Field.ERROR_TYPE -> code = readCode(in);
          case Field.CLASS -> errorClass = in.string();
          case Field.REASON -> reason = in.string();
          case Field.MESSAGE -> message = in.string();
          case Field.DIAGNOSTIC -> diagnostic = in.string();
          case Field.PUBLIC -> publicMessage = readPublic(in);
          case Field.CAUSED_BY -> causedBy = read(in, level + 1);
          default -> throw new IllegalStateException("key " + key);
        }
      }
    }
    return new DynamoError(code, errorClass, reason, message, diagnostic, publicMessage, causedBy);
  }

  private static ErrorCode readCode(WireReader in) throws IOException {
    if (!in.isMap()) {
      return ErrorCode.ofWire(in.string(), false);
    }
    var code = ErrorCode.UNKNOWN;
    in.beginMap();
    for (int key = in.nextKey(BackendField.KEYS);
        key != Keys.END;
        key = in.nextKey(BackendField.KEYS)) {
      if (key == BackendField.BACKEND) {
        code = ErrorCode.ofWire(in.string(), true);
      } else {
        in.skip();
      }
    }
    return code;
  }

  private static @Nullable String readPublic(WireReader in) throws IOException {
    String message = null;
    in.beginMap();
    for (int key = in.nextKey(PublicField.KEYS);
        key != Keys.END;
        key = in.nextKey(PublicField.KEYS)) {
      if (key == PublicField.MESSAGE && !in.isNil()) {
        message = in.string();
      } else if (key != PublicField.MESSAGE) {
        in.skip();
      }
    }
    return message;
  }
}
