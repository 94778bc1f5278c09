package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.metrics.Label;
import java.util.ArrayList;
import java.util.List;

/**
 * What Dynamo's own router metrics say of themselves: the endpoint that is routed to, and whose
 * router it is.
 *
 * @param model of the endpoint
 */
record RouterLabels(EndpointId endpoint, String model, String routerId, InstanceId self) {
  /** Of most of them. */
  Label[] of(Label... more) {
    var labels = new ArrayList<>(List.of(more));
    labels.addAll(of(endpoint, routerId, self));
    return labels.toArray(Label[]::new);
  }

  /** Of those that tell models apart. */
  Label[] ofModel() {
    return of(new Label("model", model), new Label("phase", "aggregated"));
  }

  /** The same without a model: of what is counted before the endpoint's cards are known. */
  static List<Label> of(EndpointId endpoint, String routerId, InstanceId self) {
    return List.of(
        new Label("dynamo_component", endpoint.component()),
        new Label("dynamo_namespace", endpoint.namespace()),
        new Label("router_id", routerId),
        new Label("worker_id", self.hex()));
  }
}
