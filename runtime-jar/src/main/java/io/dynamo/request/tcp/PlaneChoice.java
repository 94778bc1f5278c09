package io.dynamo.request.tcp;

import io.dynamo.config.plane.RequestPlane;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import java.util.List;

/**
 * Chooses the address at which an instance of several planes is called: that of the caller's first
 * plane that the instance has, else the instance's own first that needs no server between.
 *
 * @param order the caller's planes
 */
record PlaneChoice(List<RequestPlane> order) {
  PlaneChoice {
    order = List.copyOf(order);
  }

  /** Returns the instance with one address. */
  Instance choose(Instance instance) {
    if (!(instance.transport() instanceof TransportAddress.Several several)) {
      return instance;
    }
    return new Instance(
        instance.endpoint(),
        instance.id(),
        choose(several.all()),
        instance.deviceType(),
        instance.format());
  }

  private TransportAddress choose(List<TransportAddress> all) {
    for (var plane : order) {
      for (var each : all) {
        if (plane(each) == plane) {
          return each;
        }
      }
    }
    for (var each : all) {
      if (!(each instanceof TransportAddress.Nats)) {
        return each;
      }
    }
    return all.getFirst();
  }

  private static RequestPlane plane(TransportAddress one) {
    return switch (one) {
      case TransportAddress.Tcp _ -> RequestPlane.TCP;
      case TransportAddress.Nats _ -> RequestPlane.NATS;
      case TransportAddress.Http2 _ -> RequestPlane.HTTP2;
      case TransportAddress.Several several -> plane(several.all().getFirst());
    };
  }
}
