package io.dynamo.worker.engine.remote;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Loads and unloads LoRA adapters over a server's routes for it.
 *
 * @param engine the kind of engine, for messages
 * @param load path of the route that loads
 * @param unload path of the route that unloads
 * @param remedy what makes a server accept adapters, for messages
 */
public record AdapterRoutes(String engine, String load, String unload, String remedy) {
  private static final System.Logger LOG = System.getLogger(AdapterRoutes.class.getName());
  private static final Duration COMMAND = Duration.ofSeconds(60);
  private static final int UNKNOWN = 404;

  /**
   * Loads an adapter.
   *
   * @throws IllegalArgumentException when the server refuses; the message says why
   */
  public void load(EngineHttp http, String name, Path directory)
      throws IOException, InterruptedException {
    var body = JsonObject.ordered("lora_name", name, "lora_path", directory.toString());
    var answer = http.postOnce(load, Json.write(body), COMMAND);
    if (answer.statusCode() != 200) {
      throw new IllegalArgumentException(
          "%s answers %d to %s: %s; %s"
              .formatted(
                  engine, answer.statusCode(), load, EngineHttp.shown(answer.body()), remedy));
    }
  }

  /** Unloads an adapter; unknown names are ignored. */
  public void unload(EngineHttp http, String name) throws IOException, InterruptedException {
    var answer = http.post(unload, Json.write(JsonObject.ordered("lora_name", name)), COMMAND);
    if (answer.statusCode() != 200 && answer.statusCode() != UNKNOWN) {
      LOG.log(
          Level.WARNING,
          "{0} answers {1} to {2} of {3}: {4}",
          engine,
          answer.statusCode(),
          unload,
          name,
          EngineHttp.shown(answer.body()));
    }
  }
}
