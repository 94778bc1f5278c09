package io.dynamo.frontend;

import io.dynamo.net.PercentText;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Refuses percent escapes that make a path another one. The container does not look at them, so
 * that clients can write the slashes of a model's name as {@code %2F}. Stateless.
 */
final class PathEscapes {
  /** A step of this or of the level above, however it is spelt, parameters included. */
  private static final Pattern STEP =
      Pattern.compile("(?:^|/|%2f)(?:\\.|%2e){1,2}(?=;|%3b|/|%2f|$)", Pattern.CASE_INSENSITIVE);

  private static final Pattern OTHER =
      Pattern.compile("\\\\|%5c|%23|%00", Pattern.CASE_INSENSITIVE);

  private static final Pattern SLASH = Pattern.compile("%2f", Pattern.CASE_INSENSITIVE);

  /** Where names of models stand in paths. */
  private static final String KSERVE_MODELS = "/v2/models/";

  private PathEscapes() {}

  /**
   * Looks at a path.
   *
   * @param path as it came, encoded
   * @param models the path of the list of models
   * @return what is wrong with it; null for a path that can be served
   */
  static @Nullable ApiError fault(String path, String models) {
    if (path.indexOf('%') < 0 && path.indexOf('\\') < 0) {
      return null;
    }
    if (!isText(path)) {
      return ApiError.of(400, "the path has an escape that is no UTF-8 text");
    }
    if (STEP.matcher(path).find()) {
      return ApiError.of(400, "the path has a step (`.` or `..`) beside escapes; send it resolved");
    }
    if (OTHER.matcher(path).find()) {
      return ApiError.of(400, "the path has a backslash, `%5C`, `%23` or `%00`; none is served");
    }
    boolean hasNames = path.startsWith(models + "/") || path.startsWith(KSERVE_MODELS);
    return !hasNames && SLASH.matcher(path).find()
        ? ApiError.of(400, "the path has `%2F` outside the name of a model; send it as `/`")
        : null;
  }

  private static boolean isText(String path) {
    try {
      return PercentText.decoded(path).indexOf('\ufffd') < 0;
    } catch (IllegalArgumentException incomplete) {
      return false;
    }
  }
}
