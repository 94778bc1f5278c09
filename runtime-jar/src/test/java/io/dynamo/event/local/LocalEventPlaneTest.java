package io.dynamo.event.local;

import io.dynamo.event.EventPlane;
import io.dynamo.event.EventPlaneContract;
import java.util.Random;
import org.jspecify.annotations.Nullable;

class LocalEventPlaneTest extends EventPlaneContract {
  private @Nullable LocalEventPlane plane;

  @Override
  protected EventPlane join() {
    if (plane == null) {
      plane = new LocalEventPlane(CAPACITY, 1 << 20, metrics, new Random(1), clock);
    }
    return plane;
  }
}
