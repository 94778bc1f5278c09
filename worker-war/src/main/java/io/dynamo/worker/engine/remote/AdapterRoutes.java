package io.dynamo.worker.engine.remote;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

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
   * Returns the directory of each adapter that the server lists among its models, by its name;
   * empty when it lists none.
   */
  public Map<String, Path> list(EngineHttp http) throws IOException, InterruptedException {
    var adapters = new LinkedHashMap<String, Path>();
    for (var model : http.object("/v1/models").optionalObjects("data")) {
      var root = model.optionalText("root");
      if (model.members().get("parent") != null && root != null) {
        adapters.put(model.text("id"), Path.of(root));
      }
    }
    return adapters;
  }

  /**
   * Loads an adapter. One that the server has from the same directory stays as it is: a worker that
   * was killed or slept has left it there. One from another directory makes room.
   *
   * @throws IllegalArgumentException when the server refuses; the message says why
   */
  public void load(EngineHttp http, String name, Path directory)
      throws IOException, InterruptedException {
    var present = list(http).get(name);
    if (directory.equals(present)) {
      LOG.log(Level.INFO, "{0} at {1} has the adapter {2} already", engine, http.base(), name);
      return;
    }
    if (present != null) {
      unload(http, name);
    }
    post(http, name, directory);
  }

  /**
   * Loads each adapter that the server has once more, as its weights were lost. One that the server
   * does not give up, as those of its start may be, is left as it is, which is logged.
   */
  public void reload(EngineHttp http) throws IOException, InterruptedException {
    for (var adapter : list(http).entrySet()) {
      var name = adapter.getKey();
      int status = drop(http, name).statusCode();
      if (status == 200) {
        post(http, name, adapter.getValue());
      } else {
        LOG.log(
            Level.WARNING,
            "the adapter {0} of {1} at {2} may have lost its weights and is not loaded again: {3}"
                + " answers {4}; {5}",
            name,
            engine,
            http.base(),
            unload,
            status,
            remedy);
      }
    }
  }

  private EngineAnswer drop(EngineHttp http, String name) throws IOException, InterruptedException {
    return http.post(unload, Json.write(JsonObject.ordered("lora_name", name)), COMMAND);
  }

  private void post(EngineHttp http, String name, Path directory)
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
    var answer = drop(http, name);
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
