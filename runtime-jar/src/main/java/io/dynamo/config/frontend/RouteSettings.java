package io.dynamo.config.frontend;

import java.util.Map;

/**
 * The paths at which the frontend serves its routes. Keys: {@code dynamo.frontend.path.*}.
 *
 * @param moved the paths of the routes that are not at their standard ones; no two collide
 */
public record RouteSettings(Map<Route, String> moved) {
  /** All routes at their standard paths. */
  public static final RouteSettings STANDARD = new RouteSettings(Map.of());

  public RouteSettings {
    moved = Map.copyOf(moved);
  }
}
