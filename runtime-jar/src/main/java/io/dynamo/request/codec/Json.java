package io.dynamo.request.codec;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;

/**
 * The one JSON factory of the request plane; its symbol table makes field names free. Its buffers
 * are pooled here and not by thread, for a request's virtual thread would find none.
 */
final class Json {
  private static final int POOLED_BUFFERS = 64;

  static final JsonFactory FACTORY =
      JsonFactory.builder().recyclerPool(JsonRecyclerPools.newBoundedPool(POOLED_BUFFERS)).build();

  private Json() {}
}
