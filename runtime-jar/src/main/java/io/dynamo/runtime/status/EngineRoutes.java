package io.dynamo.runtime.status;

import io.dynamo.json.JsonObject;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Commands that an engine offers to operators, by path. Safe for concurrent use. */
public final class EngineRoutes {
  /** One command. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Runs on a virtual thread that is interrupted when its caller hangs up; may block.
     *
     * @param body empty when the caller sent none
     * @return a JSON object
     * @throws Exception its message is told to the caller
     */
    Map<String, ? extends @Nullable Object> run(JsonObject body) throws Exception;
  }

  private final Map<String, Handler> handlers = new ConcurrentHashMap<>();

  /**
   * Offers {@code handler} at {@code /engine/{path}}.
   *
   * @throws IllegalStateException when that path is taken
   */
  public Registered add(String path, Handler handler) {
    if (handlers.putIfAbsent(path, handler) != null) {
      throw new IllegalStateException("engine route " + path + " is taken");
    }
    return () -> handlers.remove(path, handler);
  }

  /** The command at {@code path}; null for none. */
  public @Nullable Handler find(String path) {
    return handlers.get(path);
  }
}
