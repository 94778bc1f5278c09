package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.Nvext;
import io.dynamo.frontend.openai.wire.RoutingOptions;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the id, metadata and routing options of a request from its headers. */
final class CallHeaders {
  /** The header with the caller's own id for a request, the first of those that are read. */
  static final String REQUEST_ID = "x-dynamo-request-id";

  private static final int MAX_METADATA = 64;
  private static final int MAX_METADATA_BYTES = 65_536;

  /** The client's own id of a request. */
  static final String CLIENT_ID = "x-request-id";

  private static final List<String> FORWARDED = List.of(CLIENT_ID);

  private static final List<String> WORKER =
      List.of("x-dynamo-worker-instance-id", "x-worker-instance-id");
  private static final List<String> PREFILL_WORKER =
      List.of("x-dynamo-prefill-instance-id", "x-prefill-instance-id");
  private static final List<String> RANK =
      List.of("x-dynamo-dp-rank", "x-dp-rank", "x-data-parallel-rank");
  private static final List<String> PREFILL_RANK =
      List.of("x-dynamo-prefill-dp-rank", "x-prefill-dp-rank");
  private static final List<String> PRIORITY = List.of("x-dynamo-request-priority");
  private static final List<String> STRICT_PRIORITY = List.of("x-dynamo-request-strict-priority");
  private static final String TENANT = "x-tenant-id";
  private static final Set<String> ROUTING =
      Stream.of(WORKER, PREFILL_WORKER, RANK, PREFILL_RANK, PRIORITY, STRICT_PRIORITY)
          .flatMap(List::stream)
          .collect(Collectors.toUnmodifiableSet());

  private static final long U32 = 0xFFFF_FFFFL;
  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,20}");
  private static final Pattern SIGNED = Pattern.compile("-?[0-9]{1,10}");
  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  private CallHeaders() {}

  /** The request id: the caller's UUID, or a random one. */
  static String requestId(Map<String, String> headers) {
    for (var name : List.of(REQUEST_ID, "request-id")) {
      var given = headers.getOrDefault(name, "");
      if (UUID_TEXT.matcher(given).matches()) {
        return given.toLowerCase(Locale.ROOT);
      }
    }
    return UUID.randomUUID().toString();
  }

  /**
   * The caller's metadata, without credentials.
   *
   * @param prefix of the names of metadata headers, in lower case
   * @throws ApiException with 431 when there are too many
   */
  static Map<String, String> metadata(Map<String, String> headers, String prefix) {
    var pairs = new HashMap<String, String>();
    int bytes = 0;
    for (var header : headers.entrySet()) {
      if (!header.getKey().startsWith(prefix)) {
        continue;
      }
      var key = header.getKey().substring(prefix.length());
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

  /**
   * Whether a header, by its name in lower case, sets routing options. The tenant's is none of
   * them: it keeps tenants apart, whatever else is switched off.
   */
  static boolean routes(String name) {
    return ROUTING.contains(name);
  }

  /** The headers that are passed on to workers. */
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
   * The extension with the routing options of headers; a header that cannot be parsed is ignored.
   *
   * @param headers by lower-case name
   */
  static Nvext overriding(Nvext nvext, Map<String, String> headers) {
    var worker = unsigned(headers, WORKER);
    var options =
        new RoutingOptions(
            worker,
            unsigned(headers, PREFILL_WORKER),
            worker,
            number(headers, 0, U32, RANK),
            number(headers, 0, U32, PREFILL_RANK),
            priority(headers),
            number(headers, 0, U32, STRICT_PRIORITY),
            null,
            null,
            headers.get(TENANT),
            Map.of());
    return options.equals(RoutingOptions.NONE)
        ? nvext
        : nvext.withRouting(nvext.routing().under(options));
  }

  private static @Nullable Integer priority(Map<String, String> headers) {
    var priority = number(headers, Integer.MIN_VALUE, Integer.MAX_VALUE, PRIORITY);
    return priority == null ? null : (Integer) (int) (long) priority;
  }

  private static @Nullable BigInteger unsigned(Map<String, String> headers, List<String> names) {
    for (var name : names) {
      var given = headers.getOrDefault(name, "").strip();
      if (DIGITS.matcher(given).matches() && new BigInteger(given).bitLength() <= 64) {
        return new BigInteger(given);
      }
    }
    return null;
  }

  private static @Nullable Long number(
      Map<String, String> headers, long min, long max, List<String> names) {
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
