package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request for a batch.
 *
 * @param window as given, {@code 24h} for example
 * @param time the same as a duration
 * @param metadata a JSON object, or empty
 * @param keepSeconds how long the files of results are to be kept; 0 for as long as others
 */
public record BatchRequest(
    String inputFile,
    String endpoint,
    String window,
    Duration time,
    String metadata,
    long keepSeconds) {
  private static final List<String> FIELDS =
      List.of("input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after");

  /** The bounds of what OpenAI calls an expiration policy, in seconds. */
  public static final long MIN_KEEP = 3600;

  public static final long MAX_KEEP = 2_592_000;

  private static final Duration LONGEST = Duration.ofDays(7);
  private static final Pattern WINDOW = Pattern.compile("([1-9][0-9]{0,6})([smhd])");

  /**
   * Reads and checks a body.
   *
   * @throws ApiException with 400
   */
  public static BatchRequest read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    fields.onlyKnown(FIELDS);
    var window = fields.requireString("completion_window");
    return new BatchRequest(
        fields.requireString("input_file_id"),
        fields.requireString("endpoint"),
        window,
        time(window),
        metadata(fields.get("metadata")),
        keep(fields.get("output_expires_after")));
  }

  private static Duration time(String window) {
    var parts = WINDOW.matcher(window);
    if (parts.matches()) {
      long count = Long.parseLong(parts.group(1));
      var time =
          switch (parts.group(2)) {
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
          };
      if (time.compareTo(LONGEST) <= 0) {
        return time;
      }
    }
    throw wrong(
        "completion_window",
        "`completion_window` is \"%s\", but must be a time from 1s to 7d, 24h for example"
            .formatted(JsonFields.clipped(window)));
  }

  private static String metadata(@Nullable JsonNode metadata) {
    return metadata == null ? "" : Metadata.checked(metadata);
  }

  private static long keep(@Nullable JsonNode policy) {
    if (policy == null) {
      return 0;
    }
    var fields = JsonFields.of(policy, "output_expires_after");
    fields.onlyKnown(List.of("anchor", "seconds"));
    if (!fields.requireString("anchor").equals("created_at")) {
      throw wrong(
          "output_expires_after.anchor", "`output_expires_after.anchor` must be \"created_at\"");
    }
    var seconds = fields.whole("seconds", MIN_KEEP, MAX_KEEP);
    if (seconds == null) {
      throw wrong("output_expires_after.seconds", "`output_expires_after.seconds` is missing");
    }
    return seconds;
  }

  private static ApiException wrong(String param, String message) {
    return new ApiException(new ApiError(400, message, null, param, null));
  }
}
