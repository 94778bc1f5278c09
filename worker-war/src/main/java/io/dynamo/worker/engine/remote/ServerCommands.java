package io.dynamo.worker.engine.remote;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Calls of a server that are no generation. Each waits for the answer and throws {@link
 * IllegalStateException} where the server cannot be reached. Safe for concurrent use.
 */
final class ServerCommands {
  private final Dialect dialect;
  private final EngineHttp http;

  ServerCommands(Dialect dialect, EngineHttp http) {
    this.dialect = dialect;
    this.http = http;
  }

  /** A call without a result. */
  private interface Command {
    void run(EngineHttp http) throws IOException, InterruptedException;
  }

  /** A call with a result. */
  private interface Question<T> {
    T ask(EngineHttp http) throws IOException, InterruptedException;
  }

  void clearCache() {
    run(dialect::clearCache);
  }

  /** Returns the directory of each adapter that the server lists, by its name. */
  Map<String, Path> adapters() {
    return dialect instanceof AdapterListing listing ? ask(listing::adapters) : Map.of();
  }

  void loadAdapter(String name, Path directory) {
    run(to -> dialect.loadAdapter(to, name, directory));
  }

  void unloadAdapter(String name) {
    run(to -> dialect.unloadAdapter(to, name));
  }

  void sleep(ServerSleep sleeping, boolean weightsToo) {
    run(to -> sleeping.sleep(to, weightsToo));
  }

  private void run(Command command) {
    ask(
        to -> {
          command.run(to);
          return true;
        });
  }

  private <T> T ask(Question<T> question) {
    try {
      return question.ask(http);
    } catch (IOException e) {
      throw new IllegalStateException(
          "%s at %s cannot be reached: %s".formatted(dialect.engine(), http.base(), e), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
