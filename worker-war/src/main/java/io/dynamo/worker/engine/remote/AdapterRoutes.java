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
  private static final int OK = 200;
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
   * was killed or slept has left it there. One that this worker has loaded from another directory
   * makes room, and comes back where the new one cannot be loaded.
   *
   * @param known the adapters of this worker in the server
   * @throws IllegalArgumentException when the server refuses, or has the adapter from a directory
   *     of another's choice; the message says why
   */
  public void load(EngineHttp http, ServerAdapters known, String name, Path directory)
      throws IOException, InterruptedException {
    var present = list(http).get(name);
    if (directory.equals(present) && !known.isUnread(name)) {
      LOG.log(Level.INFO, "{0} at {1} has the adapter {2} already", engine, http.base(), name);
    } else if (present == null) {
      post(http, name, directory);
      known.loaded(name, directory);
    } else {
      replace(http, known, name, present, directory);
    }
  }

  private void replace(
      EngineHttp http, ServerAdapters known, String name, Path present, Path directory)
      throws IOException, InterruptedException {
    if (!directory.equals(present) && !present.equals(known.loadedFrom(name))) {
      throw new IllegalArgumentException(
          "%s at %s has an adapter %s from %s, which this worker has not loaded; unload it there, or choose another name than for %s"
              .formatted(engine, http.base(), name, present, directory));
    }
    int status = drop(http, name).statusCode();
    if (status != OK && status != UNKNOWN) {
      throw new IllegalArgumentException(
          "%s answers %d to %s of %s; %s".formatted(engine, status, unload, name, remedy));
    }
    try {
      post(http, name, directory);
    } catch (IOException | IllegalArgumentException failure) {
      if (!directory.equals(present)) {
        restore(http, name, present, failure);
      }
      throw failure;
    }
    known.loaded(name, directory);
  }

  private void restore(EngineHttp http, String name, Path directory, Exception failure)
      throws InterruptedException {
    try {
      post(http, name, directory);
    } catch (IOException | IllegalArgumentException second) {
      failure.addSuppressed(second);
    }
  }

  /**
   * Records that each adapter that the server lists has lost its weights, for {@link #readAgain}.
   */
  public void recordLost(EngineHttp http, ServerAdapters known)
      throws IOException, InterruptedException {
    known.lost(list(http));
  }

  /**
   * Loads each adapter again whose weights were lost. A failure is logged and leaves it for the
   * next call. One that the server does not give up, as those of its start may be, is left as it
   * is, which is logged.
   */
  public void readAgain(EngineHttp http, ServerAdapters known) throws InterruptedException {
    for (var adapter : known.unread().entrySet()) {
      try {
        readAgain(http, known, adapter.getKey(), adapter.getValue());
      } catch (IOException | IllegalArgumentException e) {
        LOG.log(
            Level.WARNING,
            "the adapter {0} of {1} at {2} has lost its weights and is not loaded again yet: {3}",
            adapter.getKey(),
            engine,
            http.base(),
            e);
      }
    }
  }

  private void readAgain(EngineHttp http, ServerAdapters known, String name, Path directory)
      throws IOException, InterruptedException {
    if (list(http).containsKey(name)) {
      int status = drop(http, name).statusCode();
      if (status != OK) {
        known.settled(name);
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
        return;
      }
    }
    post(http, name, directory);
    known.settled(name);
  }

  private EngineAnswer drop(EngineHttp http, String name) throws IOException, InterruptedException {
    return http.postOnce(unload, Json.write(JsonObject.ordered("lora_name", name)), COMMAND);
  }

  private void post(EngineHttp http, String name, Path directory)
      throws IOException, InterruptedException {
    var body = JsonObject.ordered("lora_name", name, "lora_path", directory.toString());
    var answer = http.postOnce(load, Json.write(body), COMMAND);
    if (answer.statusCode() != OK) {
      throw new IllegalArgumentException(
          "%s answers %d to %s: %s; %s"
              .formatted(
                  engine, answer.statusCode(), load, EngineHttp.shown(answer.body()), remedy));
    }
  }

  /**
   * Unloads an adapter; unknown names are ignored.
   *
   * @param known the adapters of this worker in the server
   */
  public void unload(EngineHttp http, ServerAdapters known, String name)
      throws IOException, InterruptedException {
    var answer = drop(http, name);
    if (answer.statusCode() == OK || answer.statusCode() == UNKNOWN) {
      known.unloaded(name);
    } else {
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
