package io.dynamo.model.vocabulary;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The {@code decoder} of a {@code tokenizer.json}, if it decodes one token at a time: gives the
 * bytes of a token at the start of a text, and those anywhere else. Immutable.
 */
final class PieceDecoder {
  private static final byte[] NO_BYTES = {};

  /** One decoder of the chain. */
  private sealed interface Step {}

  /** GPT-2's alphabet of bytes. */
  private record ByteLevel() implements Step {}

  /** {@code <0x0A>} is a byte. */
  private record ByteFallback() implements Step {}

  private record Replace(Pattern pattern, String by) implements Step {}

  /** Takes up to {@code start} and {@code stop} of a character from the ends of a token. */
  private record Strip(char character, int start, int stop) implements Step {}

  /** Takes one character from the start of the text, if it is there. */
  private record StripText(char character) implements Step {}

  private record Metaspace(String mark, boolean dropsFirst) implements Step {}

  private record WordPiece(String prefix, boolean cleanup) implements Step {}

  /** Tokens are words: a space comes between them. */
  private record SpaceBetween() implements Step {}

  private final List<Step> steps;

  private PieceDecoder(List<Step> steps) {
    this.steps = List.copyOf(steps);
  }

  /**
   * Reads the decoder's JSON; without one, tokens are joined by spaces.
   *
   * @throws IllegalArgumentException for a decoder that needs to see more than one token
   */
  static PieceDecoder of(@Nullable Object decoder) {
    var steps = new ArrayList<Step>();
    if (decoder == null) {
      steps.add(new SpaceBetween());
    } else {
      add(decoder, steps, false);
    }
    return new PieceDecoder(steps);
  }

  /** Whether a token may have other bytes at the start of a text. */
  boolean hasFirstRule() {
    for (var step : steps) {
      if (step instanceof Metaspace
          || step instanceof WordPiece
          || step instanceof SpaceBetween
          || step instanceof StripText) {
        return true;
      }
    }
    return false;
  }

  /** The bytes of {@code piece}, which need not be whole characters. */
  byte[] bytes(String piece, boolean first) {
    return bytes(piece, first, false);
  }

  /** The bytes of an added token, whose content is text and not spelled in an alphabet of bytes. */
  byte[] addedBytes(String content, boolean first) {
    return bytes(content, first, true);
  }

  private byte[] bytes(String piece, boolean first, boolean added) {
    var text = piece;
    for (var step : steps) {
      switch (step) {
        case ByteLevel _ -> {
          return added ? text.getBytes(StandardCharsets.UTF_8) : ByteAlphabet.bytes(text);
        }
        case ByteFallback _ -> {
          int b = fallbackByte(text);
          if (b > 0x7F) {
            return new byte[] {(byte) b};
          }
          text = b >= 0 ? Character.toString(b) : text;
        }
        case Replace(var pattern, var by) ->
            text = pattern.matcher(text).replaceAll(Matcher.quoteReplacement(by));
        case Strip(var character, int start, int stop) ->
            text = strip(text, character, start, stop);
        case StripText(var character) -> text = first ? strip(text, character, 1, 0) : text;
        case Metaspace(var mark, boolean dropsFirst) ->
            text = text.replace(mark, first && dropsFirst ? "" : " ");
        case WordPiece(var prefix, boolean cleanup) -> {
          if (!first) {
            text = text.startsWith(prefix) ? text.substring(prefix.length()) : " " + text;
          }
          text = cleanup ? cleanup(text) : text;
        }
        case SpaceBetween _ -> text = first ? text : " " + text;
      }
    }
    return text.isEmpty() ? NO_BYTES : text.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns whether the tokens are one text after {@code decoder}. */
  private static boolean add(@Nullable Object decoder, List<Step> steps, boolean fused) {
    if (!(decoder instanceof Map<?, ?> map)) {
      throw new IllegalArgumentException("tokenizer.json has a decoder that is no object");
    }
    var type = String.valueOf(map.get("type"));
    switch (type) {
      case "Sequence" -> {
        boolean joined = fused;
        for (var part : map.get("decoders") instanceof List<?> parts ? parts : List.of()) {
          joined = add(part, steps, joined);
        }
        return joined;
      }
      case "ByteLevel" -> {
        steps.add(new ByteLevel());
        return true;
      }
      case "ByteFallback" -> steps.add(new ByteFallback());
      case "Fuse" -> {
        return true;
      }
      case "Replace" ->
          steps.add(new Replace(pattern(map.get("pattern")), String.valueOf(map.get("content"))));
      case "Strip" -> steps.add(strip(map, fused));
      case "Metaspace" ->
          steps.add(
              new Metaspace(
                  text(map.get("replacement"), "▁"),
                  map.get("prepend_scheme") instanceof String scheme
                      ? !scheme.equals("never")
                      : !Boolean.FALSE.equals(map.get("add_prefix_space"))));
      case "WordPiece" ->
          steps.add(
              new WordPiece(
                  text(map.get("prefix"), "##"), !Boolean.FALSE.equals(map.get("cleanup"))));
      default ->
          throw new IllegalArgumentException(
              "tokenizer.json has a decoder of type "
                  + type
                  + "; supported are ByteLevel, ByteFallback, Fuse, Metaspace, Replace, Sequence,"
                  + " Strip and WordPiece");
    }
    return fused;
  }

  private static Step strip(Map<?, ?> map, boolean fused) {
    var content = text(map.get("content"), " ");
    int start = map.get("start") instanceof Integer count ? count : 0;
    int stop = map.get("stop") instanceof Integer count ? count : 0;
    if (content.length() != 1 || (fused && (start > 1 || stop > 0))) {
      throw new IllegalArgumentException(
          "tokenizer.json strips more of a text than one character at its start");
    }
    return !fused
        ? new Strip(content.charAt(0), start, stop)
        : start == 1 ? new StripText(content.charAt(0)) : new Strip(' ', 0, 0);
  }

  private static Pattern pattern(@Nullable Object pattern) {
    if (pattern instanceof Map<?, ?> map) {
      if (map.get("String") instanceof String literal) {
        return Pattern.compile(Pattern.quote(literal));
      }
      if (map.get("Regex") instanceof String regex) {
        return Pattern.compile(regex);
      }
    }
    throw new IllegalArgumentException("tokenizer.json has a decoder with the pattern " + pattern);
  }

  private static String text(@Nullable Object value, String otherwise) {
    return value instanceof String text ? text : otherwise;
  }

  private static int fallbackByte(String piece) {
    if (piece.length() == 6 && piece.startsWith("<0x") && piece.endsWith(">")) {
      int high = Character.digit(piece.charAt(3), 16);
      int low = Character.digit(piece.charAt(4), 16);
      return high < 0 || low < 0 ? -1 : high << 4 | low;
    }
    return -1;
  }

  private static String strip(String text, char character, int start, int stop) {
    int from = 0;
    while (from < Math.min(start, text.length()) && text.charAt(from) == character) {
      from++;
    }
    int to = text.length();
    while (to > Math.max(from, text.length() - stop) && text.charAt(to - 1) == character) {
      to--;
    }
    return text.substring(from, to);
  }

  /** Removes the space before punctuation and English contractions, as WordPiece's decoder does. */
  private static String cleanup(String text) {
    return text.replace(" .", ".")
        .replace(" ?", "?")
        .replace(" !", "!")
        .replace(" ,", ",")
        .replace(" ' ", "'")
        .replace(" n't", "n't")
        .replace(" 'm", "'m")
        .replace(" do not", " don't")
        .replace(" 's", "'s")
        .replace(" 've", "'ve")
        .replace(" 're", "'re");
  }
}
