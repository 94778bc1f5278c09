package io.dynamo.config.key;

import io.dynamo.json.Json;
import java.util.Locale;
import java.util.function.UnaryOperator;

/**
 * A name that the original Dynamo, or another program, has for a setting in its environment.
 *
 * @param unit the unit of the original's number, appended to it; empty for none
 * @param translation converts the original's text to ours; a text that it cannot translate is
 *     returned unchanged, for the setting to refuse
 */
public record Alias(String variable, String unit, UnaryOperator<String> translation) {
  /** Returns an alias whose text means the same here. */
  public static Alias plain(String variable) {
    return new Alias(variable, "", text -> text);
  }

  /** Returns an alias whose number has a unit of its own. */
  public static Alias numbered(String variable, String unit) {
    return new Alias(
        variable, unit, text -> text.chars().allMatch(Character::isDigit) ? text + unit : text);
  }

  /** Returns an alias whose switch has the opposite meaning. */
  public static Alias negated(String variable) {
    return new Alias(variable, "", Alias::not);
  }

  /** Returns an alias that writes IPv6 addresses in brackets. */
  public static Alias host(String variable) {
    return new Alias(variable, "", Alias::withoutBrackets);
  }

  /**
   * Returns an alias whose text is a JSON object of several settings.
   *
   * @param name the member with this setting; the setting is absent where the object has none
   */
  public static Alias member(String variable, String name) {
    return new Alias(variable, "", text -> memberOf(text, name));
  }

  private static String memberOf(String text, String name) {
    var object = Json.objectOrNull(text);
    if (object == null) {
      return text;
    }
    var value = object.get(name);
    return value == null ? "" : String.valueOf(value);
  }

  private static String not(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "1", "true", "on", "yes" -> "false";
      case "0", "false", "off", "no" -> "true";
      default -> text;
    };
  }

  private static String withoutBrackets(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }
}
