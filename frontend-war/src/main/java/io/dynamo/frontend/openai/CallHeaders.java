package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.Nvext;
import io.dynamo.frontend.openai.wire.RoutingWishes;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What request headers say about a request's identity and metadata. */
final class CallHeaders {
  private static final String METADATA = "x-dynamo-meta-";
  private static final int MAX_METADATA = 64;
  private static final int MAX_METADATA_BYTES = 65_536;
  private static final List<String> FORWARDED = List.of("x-request-id");

  private static final long U32 = 0xFFFF_FFFFL;
  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,20}");
  private static final Pattern SIGNED = Pattern.compile("-?[0-9]{1,10}");
  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  private CallHeaders() {}

  /** The caller's UUID, or a random one. */
  static String requestId(Map<String, String> headers) {
    for (var name : List.of("x-dynamo-request-id", "request-id")) {
      var given = headers.getOrDefault(name, "");
      if (UUID_TEXT.matcher(given).matches()) {
        return given.toLowerCase(Locale.ROOT);
      }
    }
    return UUID.randomUUID().toString();
  }

  /**
   * The caller's own pairs, without credentials.
   *
   * @throws ApiException with 431 when there are too many
   */
  static Map<String, String> metadata(Map<String, String> headers) {
    var pairs = new HashMap<String, String>();
    int bytes = 0;
    for (var header : headers.entrySet()) {
      if (!header.getKey().startsWith(METADATA)) {
        continue;
      }
      var key = header.getKey().substring(METADATA.length());
      var value = header.getValue();
      if (key.equals("authorization") || value.toLowerCase(Locale.ROOT).startsWith("bearer ")) {
        continue;
      }
      pairs.put(key, value);
      bytes +=
          key.getBytes(StandardCharsets.UTF_8).length
              + value.getBytes(StandardCharsets.UTF_8).length;
    }
    if (pairs.size() > MAX_METADATA) {
      throw new ApiException(
          431, "metadata headers exceed the limit of " + MAX_METADATA + " entries");
    }
    if (bytes > MAX_METADATA_BYTES) {
      throw new ApiException(
          431, "metadata headers exceed the limit of " + MAX_METADATA_BYTES + " bytes");
    }
    return pairs;
  }

  /** External ids. */
  static Map<String, String> forwarded(Map<String, String> headers) {
    var kept = new HashMap<String, String>();
    for (var name : FORWARDED) {
      var value = headers.get(name);
      if (value != null) {
        kept.put(name, value);
      }
    }
    return kept;
  }

  /**
   * The extension with what headers wish for; a header that makes no sense is as none.
   *
   * @param headers by lower-case name
   */
  static Nvext overriding(Nvext nvext, Map<String, String> headers) {
    var worker = unsigned(headers, "x-dynamo-worker-instance-id", "x-worker-instance-id");
    var wishes =
        new RoutingWishes(
            worker,
            unsigned(headers, "x-dynamo-prefill-instance-id", "x-prefill-instance-id"),
            worker,
            number(headers, 0, U32, "x-dynamo-dp-rank", "x-dp-rank", "x-data-parallel-rank"),
            number(headers, 0, U32, "x-dynamo-prefill-dp-rank", "x-prefill-dp-rank"),
            priority(headers),
            number(headers, 0, U32, "x-dynamo-request-strict-priority"),
            null,
            null,
            headers.get("x-tenant-id"),
            Map.of());
    return wishes.equals(RoutingWishes.NONE)
        ? nvext
        : nvext.withRouting(nvext.routing().under(wishes));
  }

  private static @Nullable Integer priority(Map<String, String> headers) {
    var priority =
        number(headers, Integer.MIN_VALUE, Integer.MAX_VALUE, "x-dynamo-request-priority");
    return priority == null ? null : (Integer) (int) (long) priority;
  }

  private static @Nullable BigInteger unsigned(Map<String, String> headers, String... names) {
    for (var name : names) {
      var given = headers.getOrDefault(name, "").strip();
      if (DIGITS.matcher(given).matches() && new BigInteger(given).bitLength() <= 64) {
        return new BigInteger(given);
      }
    }
    return null;
  }

  private static @Nullable Long number(
      Map<String, String> headers, long min, long max, String... names) {
    for (var name : names) {
      var given = headers.getOrDefault(name, "").strip();
      if (SIGNED.matcher(given).matches()) {
        long value = Long.parseLong(given);
        if (value >= min && value <= max) {
          return value;
        }
      }
    }
    return null;
  }
}
