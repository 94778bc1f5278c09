package io.dynamo.wire;

import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import io.dynamo.json.KnownNamesFactory;

/**
 * The one JSON factory of the request plane. Its buffers are pooled here and not by thread, because
 * a request's new virtual thread would find none.
 */
final class MessageJson {
  private static final int POOLED_BUFFERS = 64;

  static final KnownNamesFactory FACTORY = factory();

  private MessageJson() {}

  private static KnownNamesFactory factory() {
    var settings = new JsonFactoryBuilder();
    settings.recyclerPool(JsonRecyclerPools.newBoundedPool(POOLED_BUFFERS));
    return new KnownNamesFactory(settings);
  }
}
