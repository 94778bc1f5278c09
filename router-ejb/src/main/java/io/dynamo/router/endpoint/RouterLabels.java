package io.dynamo.router.endpoint;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.metrics.Label;
import java.util.stream.Stream;

/**
 * The labels of Dynamo's router metrics: the endpoint that is routed to, the router, and its
 * instance.
 */
record RouterLabels(EndpointId endpoint, String routerId, InstanceId self) {
  /** Returns the labels of most router metrics. */
  Label[] of(Label... more) {
    return Stream.concat(
            Stream.of(more),
            Stream.of(
                new Label("dynamo_component", endpoint.component()),
                new Label("dynamo_namespace", endpoint.namespace()),
                new Label("router_id", routerId),
                new Label("worker_id", self.hex())))
        .toArray(Label[]::new);
  }

  /** Returns the labels of metrics that distinguish models. */
  Label[] ofModel(String model) {
    return of(new Label("model", model), new Label("phase", "aggregated"));
  }
}
