package io.dynamo.config.worker;

import java.net.URI;
import java.time.Duration;

/**
 * The connection to llama.cpp's server. Keys: {@code dynamo.worker.llamacpp.*}.
 *
 * @param url scheme, host and port
 * @param startTimeout how long a start waits for the server to have loaded its model
 * @param silenceTimeout how long the server may send nothing during an answer
 */
public record LlamaCppSettings(URI url, Duration startTimeout, Duration silenceTimeout) {}
