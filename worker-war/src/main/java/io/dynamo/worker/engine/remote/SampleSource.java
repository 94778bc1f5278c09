package io.dynamo.worker.engine.remote;

import io.dynamo.model.RenderedSample;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Rendering of a sample prompt by the server, for dialects of servers that do so on request. */
public interface SampleSource {
  /**
   * Asks the server to render a sample; called after {@link Dialect#ask}.
   *
   * @return null when the server does not render for others
   * @throws IllegalArgumentException when the answer is not understood
   */
  @Nullable RenderedSample sample(EngineHttp http) throws IOException, InterruptedException;
}
