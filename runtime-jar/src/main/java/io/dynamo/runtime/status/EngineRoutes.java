package io.dynamo.runtime.status;

import io.dynamo.json.JsonObject;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The routes that an engine offers to operators, by path: commands that change something, and
 * queries. Safe for concurrent use.
 */
public final class EngineRoutes {
  /** Handles a call of a route. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Runs on a virtual thread that is interrupted when its caller hangs up; may block.
     *
     * @param body empty when the caller sent none
     * @return a JSON object
     * @throws Exception its message goes to the caller
     */
    Map<String, ? extends @Nullable Object> run(JsonObject body) throws Exception;
  }

  /**
   * One route.
   *
   * @param changes whether it changes anything: such a route is never run by a GET
   */
  public record Route(Handler handler, boolean changes) {}

  private final Map<String, Route> routes = new ConcurrentHashMap<>();

  /**
   * Adds a command at {@code /engine/{path}}.
   *
   * @throws IllegalStateException when that path is taken
   */
  public Registered add(String path, Handler handler) {
    return add(path, new Route(handler, true));
  }

  /**
   * Adds a query at {@code /engine/{path}}.
   *
   * @param handler changes nothing
   * @throws IllegalStateException when that path is taken
   */
  public Registered addQuestion(String path, Handler handler) {
    return add(path, new Route(handler, false));
  }

  private Registered add(String path, Route route) {
    if (routes.putIfAbsent(path, route) != null) {
      throw new IllegalStateException("engine route " + path + " is taken");
    }
    return () -> routes.remove(path, route);
  }

  /** Returns the route at {@code path}; null for none. */
  public @Nullable Route find(String path) {
    return routes.get(path);
  }
}
