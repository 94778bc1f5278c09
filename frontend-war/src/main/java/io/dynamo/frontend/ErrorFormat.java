package io.dynamo.frontend;

import io.dynamo.frontend.sse.ByteText;

/** The form of error answers, which differs between the families of APIs. */
public enum ErrorFormat {
  /** OpenAI's {@code error} object, with Dynamo's flat keys beside it. */
  OPENAI {
    @Override
    public byte[] body(ApiError error) {
      return error.body();
    }
  },

  /** The envelope of Anthropic's API. */
  ANTHROPIC {
    @Override
    public byte[] body(ApiError error) {
      var json = new ByteText(128 + error.message().length());
      appendAnthropic(error, json);
      return json.toByteArray();
    }
  },

  /** KServe's: the message alone. */
  KSERVE {
    @Override
    public byte[] body(ApiError error) {
      var json = new ByteText(64 + error.message().length());
      return json.ascii("{\"error\":").quoted(error.message()).ascii("}").toByteArray();
    }
  };

  private static final String KSERVE_PATH = "/v2";

  private static final String MESSAGES = "/v1/messages";

  /** The body of an answer, as UTF-8 JSON. */
  public abstract byte[] body(ApiError error);

  /** The form of answers at {@code path}, whether anything is served there or not. */
  public static ErrorFormat of(String path) {
    if (isBelow(MESSAGES, path)) {
      return ANTHROPIC;
    }
    return isBelow(KSERVE_PATH, path) ? KSERVE : OPENAI;
  }

  private static boolean isBelow(String root, String path) {
    return path.startsWith(root)
        && (path.length() == root.length() || path.charAt(root.length()) == '/');
  }

  /** Appends {@code error} as Anthropic's API sends it, in answers and in streams. */
  public static void appendAnthropic(ApiError error, ByteText json) {
    json.ascii("{\"type\":\"error\",\"error\":{\"type\":\"").ascii(anthropicType(error.status()));
    json.ascii("\",\"message\":").quoted(error.message()).ascii("}}");
  }

  private static String anthropicType(int status) {
    return switch (status) {
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case ApiError.CLIENT_GONE -> "request_cancelled";
      case 408, 504 -> "timeout_error";
      case 503, 529 -> "overloaded_error";
      default -> status < 500 ? "invalid_request_error" : "api_error";
    };
  }
}
