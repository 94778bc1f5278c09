package io.dynamo.frontend;

import io.dynamo.config.frontend.Route;
import io.dynamo.config.frontend.RouteSettings;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the routes that the operator moved to other paths. Immutable. */
public final class RoutePaths {
  /** A path as a whole string of JSON or script, or as the text between two tags. */
  private static final Pattern PATH = Pattern.compile("(?<=[\">])/[A-Za-z0-9/_{}.-]+(?=[\"<])");

  /**
   * Spellings of a step up, or of text that is decoded twice: such a path could reach any route.
   */
  private static final Pattern LEADING_OUT =
      Pattern.compile("\\.\\.|%2e|;|%3b|\\\\|%5c|%25", Pattern.CASE_INSENSITIVE);

  private final Map<Route, String> moved;

  public RoutePaths(RouteSettings settings) {
    this.moved = settings.moved();
  }

  /** Where a request belongs. */
  sealed interface Place {
    /** At the path that it has. */
    record Here() implements Place {}

    /** At the standard path of a route that was moved to where the request goes. */
    record MovedFrom(String path) implements Place {}

    /**
     * Nowhere: the route that has this path by default was moved away, or the path could lead out
     * of the route that it begins with.
     */
    record Nowhere() implements Place {}
  }

  private static final Place HERE = new Place.Here();
  private static final Place NOWHERE = new Place.Nowhere();

  /**
   * Finds the place of a request.
   *
   * @param uri its path as it came, encoded
   * @param decoded its path as the container reads it
   */
  Place of(String uri, String decoded) {
    if (moved.isEmpty()) {
      return HERE;
    }
    for (var entry : moved.entrySet()) {
      var place = entry.getValue();
      if (entry.getKey().covers(place, uri)) {
        var rest = uri.substring(place.length());
        if (LEADING_OUT.matcher(rest).find()) {
          return NOWHERE;
        }
        return new Place.MovedFrom(entry.getKey().standard() + rest);
      }
    }
    for (var route : moved.keySet()) {
      if (!route.isKept() && route.covers(route.standard(), decoded)) {
        return NOWHERE;
      }
    }
    return HERE;
  }

  /** Returns the path at which clients find what has the path {@code standard} by default. */
  String published(String standard) {
    for (var entry : moved.entrySet()) {
      var route = entry.getKey();
      if (route.covers(route.standard(), standard)) {
        return entry.getValue() + standard.substring(route.standard().length());
      }
    }
    return standard;
  }

  /** Returns a page, script or description with the paths of clients instead of standard ones. */
  public byte[] rewrite(byte[] text) {
    return moved.isEmpty()
        ? text
        : PATH.matcher(new String(text, StandardCharsets.UTF_8))
            .replaceAll(found -> Matcher.quoteReplacement(published(found.group())))
            .getBytes(StandardCharsets.UTF_8);
  }
}
