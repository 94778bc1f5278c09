package io.dynamo.worker.engine;

import io.dynamo.model.RenderedSample;
import org.jspecify.annotations.Nullable;

/** Reports how an engine's own server renders a sample prompt. Safe for concurrent use. */
public interface SampleReport {
  /** Returns the sample of the latest start; null when the server does not render for others. */
  @Nullable RenderedSample renderedSample();
}
