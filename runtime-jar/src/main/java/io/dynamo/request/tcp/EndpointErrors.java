package io.dynamo.request.tcp;

import io.dynamo.discovery.EndpointId;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;

/**
 * What goes wrong between the requester and an endpoint, by the step.
 *
 * @param invalidMessage a control message that cannot be read
 * @param responseStream the requester cannot be reached
 * @param publishResponse the requester takes nothing, or an item is too large for it
 */
record EndpointErrors(
    Metrics.Counter invalidMessage,
    Metrics.Counter responseStream,
    Metrics.Counter publishResponse) {
  static EndpointErrors of(Metrics metrics, EndpointId endpoint) {
    return new EndpointErrors(
        counter(metrics, endpoint, "invalid_message"),
        counter(metrics, endpoint, "response_stream"),
        counter(metrics, endpoint, "publish_response"));
  }

  /** A metric has one set of label names: the model, unknown here, is empty, which means absent. */
  private static Metrics.Counter counter(Metrics metrics, EndpointId endpoint, String step) {
    return metrics.counter(
        WorkerMetrics.ERRORS,
        new Label("dynamo_namespace", endpoint.namespace()),
        new Label("dynamo_component", endpoint.component()),
        new Label("dynamo_endpoint", endpoint.name()),
        new Label("model", ""),
        new Label("error_type", step));
  }
}
