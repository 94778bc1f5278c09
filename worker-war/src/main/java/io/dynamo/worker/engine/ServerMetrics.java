package io.dynamo.worker.engine;

/** The metrics of an engine's own server. Safe for concurrent use. */
public interface ServerMetrics {
  /** Returns them as Prometheus' text, within two seconds; empty when the server gives none now. */
  String serverMetrics();
}
