package io.dynamo.worker.engine.remote;

import io.dynamo.model.RenderedSample;
import java.io.IOException;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** Asks servers to render a sample prompt. A server that does not is used all the same. */
public final class Samples {
  private static final System.Logger LOG = System.getLogger(Samples.class.getName());

  private Samples() {}

  /** Returns the server's rendering; null when it does not give one. */
  static @Nullable RenderedSample ask(Dialect dialect, EngineHttp http)
      throws InterruptedException {
    return dialect instanceof SampleSource source ? ask(dialect.engine(), source, http) : null;
  }

  /**
   * Returns the rendering of a server; null when it does not give one.
   *
   * @param engine the kind of engine, for messages
   */
  public static @Nullable RenderedSample ask(String engine, SampleSource source, EngineHttp http)
      throws InterruptedException {
    String why = "it does not render for others";
    try {
      var sample = source.sample(http);
      if (sample != null) {
        return sample;
      }
    } catch (IOException | IllegalArgumentException e) {
      why = e.toString();
    }
    LOG.log(
        Level.INFO,
        "the prompts of {0} at {1} are not compared with the frontend''s: {2}",
        engine,
        http.base(),
        why);
    return null;
  }
}
