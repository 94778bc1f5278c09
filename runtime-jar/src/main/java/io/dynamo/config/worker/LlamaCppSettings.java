package io.dynamo.config.worker;

import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * The connections to llama.cpp's servers. Keys: {@code dynamo.worker.llamacpp.*}.
 *
 * @param urls scheme, host and port of each server, which is a rank
 * @param startTimeout how long a start waits for the server to have loaded its model
 * @param silenceTimeout how long the server may send nothing during an answer
 */
public record LlamaCppSettings(List<URI> urls, Duration startTimeout, Duration silenceTimeout) {
  public LlamaCppSettings {
    urls = List.copyOf(urls);
  }
}
