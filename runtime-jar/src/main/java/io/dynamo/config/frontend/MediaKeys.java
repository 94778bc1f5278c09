package io.dynamo.config.frontend;

import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.LARGE_SIZE;
import static io.dynamo.config.key.SettingType.SIZE;

import io.dynamo.config.frontend.MediaSettings.Fetching;
import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** The settings of media in prompts, in the order of the documentation. */
public final class MediaKeys {
  private static final KeyList KEYS = new KeyList();
  private static final int MAX_PORT = 65_535;

  static final SettingKey<Fetching> FETCH =
      KEYS.key(
          "dynamo.frontend.media.fetch",
          SettingType.oneOf(Fetching.class),
          "card",
          none(),
          "whose media the frontend fetches and sends to workers as data URLs: those of models"
              + " whose card has a `media_decoder` for them, of all models, or none");
  static final SettingKey<Boolean> MEASURE =
      KEYS.key(
          "dynamo.frontend.media.measure",
          BOOLEAN,
          "true",
          none(),
          "whether the first 64 KiB of other images are fetched for their width and height, so"
              + " that requests are routed by their images; images in data URLs are measured in"
              + " any case");
  static final SettingKey<Boolean> ALLOW_INTERNAL =
      KEYS.key(
          "dynamo.frontend.media.allow-internal",
          BOOLEAN,
          "false",
          none(),
          "whether media may come from addresses that are not public and from any port: for"
              + " networks whose clients may read all that this server can reach",
          plain("DYN_MM_ALLOW_INTERNAL"));
  static final SettingKey<List<String>> HOSTS =
      KEYS.key(
          "dynamo.frontend.media.hosts",
          new SettingType<>("host names, comma-separated", MediaKeys::hosts),
          "",
          none(),
          "the only hosts that media may come from, redirects included; `*.example.com` is all"
              + " below it; absent is any public host");
  static final SettingKey<Set<Integer>> PORTS =
      KEYS.key(
          "dynamo.frontend.media.ports",
          new SettingType<>("ports, comma-separated", MediaKeys::ports),
          "80,443",
          none(),
          "the only ports that media may come from");
  static final SettingKey<Integer> MAX_BYTES =
      KEYS.key(
          "dynamo.frontend.media.max-bytes",
          SIZE,
          "16MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "one medium, fetched or in a data URL that the frontend decodes");
  static final SettingKey<Integer> MAX_REQUEST_BYTES =
      KEYS.key(
          "dynamo.frontend.media.max-request-bytes",
          SIZE,
          "24MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "all fetched media of a request as data URLs, which are a third longer; less than"
              + " `dynamo.request.tcp.max-frame`");
  static final SettingKey<Integer> MAX_PIXELS =
      KEYS.key(
          "dynamo.frontend.media.max-pixels",
          INTEGER,
          "67108864",
          between(1, 1 << 30),
          "width times height of an image that is fetched, by its header; a card may set less");
  static final SettingKey<Duration> TIMEOUT =
      KEYS.key(
          "dynamo.frontend.media.timeout",
          DURATION,
          "30s",
          WAIT,
          "how long one medium may take, with name lookup and redirects; a card may set less");
  static final SettingKey<Duration> CONNECT_TIMEOUT =
      KEYS.key(
          "dynamo.frontend.media.connect-timeout",
          DURATION,
          "5s",
          WAIT,
          "how long a host may take to accept a connection");
  static final SettingKey<Integer> MAX_FETCHES =
      KEYS.key(
          "dynamo.frontend.media.max-fetches",
          INTEGER,
          "64",
          between(1, 10_000),
          "media that are fetched at once, half of them of one domain unless hosts are named; further"
              + " ones wait for half of their timeout");
  static final SettingKey<Integer> MAX_FETCHES_PER_REQUEST =
      KEYS.key(
          "dynamo.frontend.media.max-fetches-per-request",
          INTEGER,
          "4",
          between(1, 1024),
          "media of one request that are fetched at once");
  static final SettingKey<Long> CACHE_BYTES =
      KEYS.key(
          "dynamo.frontend.media.cache-bytes",
          LARGE_SIZE,
          "0",
          new Bound<>("0 to 1024GiB", value -> value >= 0 && value <= 1L << 40),
          "memory for media that were fetched, at most an eighth of the heap; 0 keeps none",
          numbered("DYN_MULTIMODAL_LOADER_CACHE_GB", "GiB"));
  static final SettingKey<Long> NIXL_BYTES =
      KEYS.key(
          "dynamo.frontend.media.nixl-bytes",
          LARGE_SIZE,
          "0",
          new Bound<>("0 to 1024GiB", value -> value >= 0 && value <= 1L << 40),
          "memory outside the heap for decoded images, which workers of models with a"
              + " `media_decoder` read over NIXL (`dynamo.transfer.nixl.*`); 0 decodes none");

  private MediaKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  static MediaSettings read(KeyReader reader) {
    var hosts = reader.optional(HOSTS);
    return new MediaSettings(
        reader.get(FETCH),
        reader.get(MEASURE),
        reader.get(ALLOW_INTERNAL),
        hosts == null ? List.of() : hosts,
        reader.get(PORTS),
        reader.get(MAX_BYTES),
        reader.get(MAX_REQUEST_BYTES),
        reader.get(MAX_PIXELS),
        reader.get(TIMEOUT),
        reader.get(CONNECT_TIMEOUT),
        reader.get(MAX_FETCHES),
        reader.get(MAX_FETCHES_PER_REQUEST),
        reader.get(CACHE_BYTES),
        reader.get(NIXL_BYTES));
  }

  private static List<String> hosts(String text) {
    return Arrays.stream(text.split(","))
        .map(host -> host.strip().toLowerCase(Locale.ROOT))
        .filter(host -> !host.isEmpty())
        .peek(MediaKeys::checkHost)
        .toList();
  }

  private static void checkHost(String host) {
    if (!host.matches("(\\*\\.)?[a-z0-9_-]+(\\.[a-z0-9_-]+)*|\\[[0-9a-f:.]+]")) {
      throw new IllegalArgumentException(
          "has \"%s\", which is neither a host nor *. and a domain".formatted(host));
    }
  }

  private static Set<Integer> ports(String text) {
    return Arrays.stream(text.split(","))
        .map(String::strip)
        .filter(port -> !port.isEmpty())
        .map(MediaKeys::port)
        .collect(Collectors.toUnmodifiableSet());
  }

  private static Integer port(String text) {
    if (text.matches("\\d{1,5}")) {
      int port = Integer.parseInt(text);
      if (port >= 1 && port <= MAX_PORT) {
        return port;
      }
    }
    throw new IllegalArgumentException("has \"%s\", which is no port".formatted(text));
  }
}
