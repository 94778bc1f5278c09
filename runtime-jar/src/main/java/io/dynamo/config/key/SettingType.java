package io.dynamo.config.key;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The type of a setting: how its text is read.
 *
 * @param name the type's name in the documentation
 * @param parser throws {@link IllegalArgumentException} with the fault, as in "is not a number"
 * @param isSecret whether the text may hold credentials and is never shown; the parser's messages
 *     must not show it either
 */
public record SettingType<T>(String name, Function<String, T> parser, boolean isSecret) {
  private static final Pattern AMOUNT = Pattern.compile("(\\d+)\\s*([A-Za-zµ]*)");
  private static final Map<String, Duration> DURATION_UNITS =
      Map.of(
          "ns", Duration.ofNanos(1),
          "us", Duration.ofNanos(1_000),
          "µs", Duration.ofNanos(1_000),
          "ms", Duration.ofMillis(1),
          "s", Duration.ofSeconds(1),
          "m", Duration.ofMinutes(1),
          "h", Duration.ofHours(1));
  private static final Map<String, Long> SIZE_UNITS =
      Map.of("", 1L, "B", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30);

  public static final SettingType<Integer> INTEGER =
      new SettingType<>("integer", SettingType::integer);
  public static final SettingType<Double> DECIMAL =
      new SettingType<>("number", SettingType::decimal);
  public static final SettingType<Boolean> BOOLEAN =
      new SettingType<>("true or false", SettingType::truth);
  public static final SettingType<String> TEXT = new SettingType<>("text", text -> text);
  public static final SettingType<String> NAME = new SettingType<>("name", SettingType::segment);
  public static final SettingType<String> IP_LITERAL =
      new SettingType<>("IP address", SettingType::ip);
  public static final SettingType<Path> PATH = new SettingType<>("path", Path::of);
  public static final SettingType<List<Path>> PATHS =
      new SettingType<>("paths, comma-separated", text -> parts(text).map(Path::of).toList());
  public static final SettingType<List<String>> NAMES =
      new SettingType<>("names, comma-separated", text -> parts(text).toList());
  public static final SettingType<String> HTTP_PATH =
      new SettingType<>("path", SettingType::httpPath);
  public static final SettingType<Duration> DURATION =
      new SettingType<>("duration", SettingType::duration);
  public static final SettingType<Integer> SIZE = new SettingType<>("size", SettingType::size);

  /** A size that may exceed the range of an {@code int}. */
  public static final SettingType<Long> LARGE_SIZE =
      new SettingType<>("size", SettingType::largeSize);

  public static final SettingType<URI> HTTP_URL =
      new SettingType<>("http or https URL", SettingType::httpUrl);

  public SettingType(String name, Function<String, T> parser) {
    this(name, parser, false);
  }

  /**
   * Returns a type for one of the constants of {@code type}, written as {@link #choice} writes it.
   */
  public static <E extends Enum<E>> SettingType<E> oneOf(Class<E> type) {
    return new SettingType<>(choices(type, " or "), text -> constant(type, text));
  }

  /** Returns a type for a comma-separated, non-empty set of the constants of {@code type}. */
  public static <E extends Enum<E>> SettingType<Set<E>> setOf(Class<E> type) {
    return new SettingType<>(
        "any of " + choices(type, ", "),
        text -> {
          var set = EnumSet.noneOf(type);
          parts(text).forEach(part -> set.add(constant(type, part)));
          if (set.isEmpty()) {
            throw new IllegalArgumentException("names none");
          }
          return set;
        });
  }

  /** Returns the form of a constant in configuration: lower case, hyphens. */
  public static String choice(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static <E extends Enum<E>> String choices(Class<E> type, String separator) {
    return Arrays.stream(type.getEnumConstants())
        .map(SettingType::choice)
        .collect(Collectors.joining(separator));
  }

  private static <E extends Enum<E>> E constant(Class<E> type, String text) {
    for (var constant : type.getEnumConstants()) {
      if (choice(constant).equals(text.toLowerCase(Locale.ROOT))) {
        return constant;
      }
    }
    throw new IllegalArgumentException("is not " + choices(type, " or "));
  }

  private static Stream<String> parts(String text) {
    return Arrays.stream(text.split(",")).map(String::strip).filter(part -> !part.isEmpty());
  }

  private static int integer(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("is not a whole number", e);
    }
  }

  private static double decimal(String text) {
    try {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("is not a number", e);
    }
    throw new IllegalArgumentException("is not a finite number");
  }

  private static boolean truth(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "1", "on", "yes" -> true;
      case "false", "0", "off", "no" -> false;
      default -> throw new IllegalArgumentException("is neither true nor false");
    };
  }

  private static String segment(String text) {
    if (text.indexOf('/') >= 0 || text.chars().anyMatch(Character::isWhitespace)) {
      throw new IllegalArgumentException("holds a slash or a space");
    }
    return text;
  }

  private static String httpPath(String text) {
    if (!text.matches("/[A-Za-z0-9._~/-]*")) {
      throw new IllegalArgumentException("is not a slash followed by letters, digits and ._~/-");
    }
    return text;
  }

  private static URI httpUrl(String text) {
    URI url;
    try {
      url = new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("is not a URL", e);
    }
    boolean http = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
    if (!http || url.getHost() == null) {
      throw new IllegalArgumentException("is not an http or https URL with a host");
    }
    if (url.getUserInfo() != null) {
      throw new IllegalArgumentException(
          "has a user or password, which would be shown in listings of settings");
    }
    return url;
  }

  private static String ip(String text) {
    InetAddress.ofLiteral(text); // throws when the text is a name
    return text;
  }

  private static Duration duration(String text) {
    var match = AMOUNT.matcher(text);
    try {
      if (match.matches()) {
        var unit = DURATION_UNITS.get(match.group(2));
        if (unit != null) {
          return unit.multipliedBy(Long.parseLong(match.group(1)));
        }
      } else {
        return Duration.parse(text);
      }
    } catch (DateTimeParseException | NumberFormatException | ArithmeticException e) {
      throw new IllegalArgumentException("is not a duration such as 500ms, 10s, 2m or PT10S", e);
    }
    throw new IllegalArgumentException("has no unit of ns, us, ms, s, m or h");
  }

  private static int size(String text) {
    long bytes = largeSize(text);
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("is above 2147483647 bytes");
    }
    return (int) bytes;
  }

  private static long largeSize(String text) {
    var match = AMOUNT.matcher(text);
    var unit = match.matches() ? SIZE_UNITS.get(match.group(2)) : null;
    if (unit == null) {
      throw new IllegalArgumentException("is not a size such as 33554432 or 32MiB");
    }
    try {
      return Math.multiplyExact(Long.parseLong(match.group(1)), unit);
    } catch (NumberFormatException | ArithmeticException e) {
      throw new IllegalArgumentException("is above 9223372036854775807 bytes", e);
    }
  }
}
