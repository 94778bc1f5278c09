package io.dynamo.config.frontend;

import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.none;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The settings of the paths of routes, in the order of the documentation. */
public final class RouteKeys {
  private static final Pattern SEGMENT = Pattern.compile("[A-Za-z0-9_~-][A-Za-z0-9._~:*-]*");
  private static final int LONGEST = 256;

  /** Where other routes are, of this module and of others; no route can be moved onto them. */
  private static final List<String> TAKEN =
      List.of(
          "/busy_threshold",
          "/console",
          "/detokenize",
          "/docs",
          "/openapi",
          "/openapi.json",
          "/router",
          "/tokenize",
          "/v2",
          "/worker");

  private static final KeyList KEYS = new KeyList();
  private static final Map<Route, SettingKey<String>> PATHS = paths();

  private RouteKeys() {}

  private static Map<Route, SettingKey<String>> paths() {
    var paths = new EnumMap<Route, SettingKey<String>>(Route.class);
    var type = new SettingType<>("path that begins with /", RouteKeys::path);
    for (var route : Route.values()) {
      var variable = route.variable();
      var aliases = variable == null ? new Alias[0] : new Alias[] {plain(variable)};
      paths.put(
          route,
          KEYS.key(
              "dynamo.frontend.path." + route.key(),
              type,
              route.standard(),
              none(),
              "the path of " + route.meaning(),
              aliases));
    }
    return paths;
  }

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /** Reports routes whose paths collide with each other, or with those of other parts. */
  public static List<String> problems(KeyReader reader) {
    var problems = new ArrayList<String>();
    var known = new EnumMap<Route, String>(Route.class);
    PATHS.forEach(
        (route, key) -> {
          var path = reader.optional(key);
          if (path != null) {
            known.put(route, path);
          }
        });
    known.forEach(
        (route, path) -> {
          boolean isMoved = !path.equals(route.standard());
          for (var taken : TAKEN) {
            if (isMoved && (path.equals(taken) || path.startsWith(taken + "/"))) {
              problems.add(
                  "%s = \"%s\" is below %s, which is another route; choose another path"
                      .formatted(name(route), path, taken));
            }
          }
          known.forEach(
              (other, place) -> {
                boolean once = other.compareTo(route) > 0;
                if (once && (route.covers(path, place) || other.covers(place, path))) {
                  problems.add(
                      "%s = \"%s\" and %s = \"%s\" are two routes with one path; choose another for one of them"
                          .formatted(name(route), path, name(other), place));
                }
              });
          for (var other : Route.values()) {
            boolean stays = other.isKept() && !other.standard().equals(known.get(other));
            if (isMoved && stays && other.covers(other.standard(), path)) {
              problems.add(
                  "%s = \"%s\" is at or below %s, which is served in any case; choose another path"
                      .formatted(name(route), path, other.standard()));
            }
          }
        });
    return problems;
  }

  private static String name(Route route) {
    return "dynamo.frontend.path." + route.key();
  }

  public static RouteSettings read(KeyReader reader) {
    var moved = new EnumMap<Route, String>(Route.class);
    PATHS.forEach(
        (route, key) -> {
          var path = reader.get(key);
          if (!path.equals(route.standard())) {
            moved.put(route, path);
          }
        });
    return new RouteSettings(moved);
  }

  private static String path(String text) {
    if (!text.startsWith("/") || text.length() == 1) {
      throw new IllegalArgumentException("does not begin with / and a name");
    }
    if (text.length() > LONGEST) {
      throw new IllegalArgumentException("has more than " + LONGEST + " characters");
    }
    for (var segment : text.substring(1).split("/", -1)) {
      if (!SEGMENT.matcher(segment).matches()) {
        throw new IllegalArgumentException(
            "has the segment \"%s\"; segments begin with a letter, a digit, - _ or ~, and go on with these and . : *"
                .formatted(segment));
      }
    }
    return text;
  }
}
